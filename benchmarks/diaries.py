"""Invented diaries in bulk: every line differs, half of them Chinese, from a fixed seed."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random

SUBJECTS = ["gateway", "router", "importer", "scheduler", "invoice", "backup", "kiln", "boiler", "ladder", "garden", "ferry", "tablet", "printer", "ledger", "archive", "webhook", "cache", "index", "queue", "migration", "snapshot", "certificate", "sensor", "thermostat", "workshop", "recipe", "passport", "bicycle"]
VERBS = ["needs", "refuses", "keeps", "drops", "doubles", "follows", "forgets", "prefers", "delays", "repeats", "accepts", "ignores", "warns", "locks"]
OBJECTS = ["tokens", "labels", "batches", "retries", "headers", "windows", "batteries", "filters", "signatures", "seeds", "receipts", "screws", "drafts", "names", "ports", "colours", "limits", "forms", "parcels", "keys", "cables", "shelves", "minutes", "tickets"]
ENDS = "before noon|after a restart|on Tuesdays|in the small room|without a reason|since the move|for the team|at night"
NOUNS = ["网关", "路由器", "数据库", "备份", "锅炉", "梯子", "花园", "渡船", "平板", "打印机", "账本", "缓存", "索引", "队列", "快照", "证书", "传感器", "食谱", "护照", "自行车"]
ACTIONS = ["需要", "拒绝", "保留", "丢弃", "跟随", "忘记", "偏好", "推迟", "重复", "接受", "忽略", "提醒", "锁定", "检查"]
THINGS = ["令牌", "标签", "批次", "重试", "窗口", "电池", "过滤器", "签名", "种子", "收据", "螺丝", "草稿", "端口", "颜色", "上限", "表格", "包裹", "钥匙", "线缆", "工单"]
PLACES = ["在中午之前", "重启之后", "每周二", "在小房间里", "没有理由", "搬家以来", "为了团队", "在夜里"]


def write(root: Path, *, days: int, lines: int, start: date = date(2016, 6, 1)) -> int:
    """Write one diary a day with so many one-line fragments; return the bytes written."""
    folder = root / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    dice, written = Random(20260618), 0
    for day in range(days):
        text = f"# {start + timedelta(days=day)}\n\n" + "\n".join(_sections(dice, lines))
        written += (folder / f"{start + timedelta(days=day)}.md").write_bytes(text.encode("utf-8"))
    return written


def _sections(dice: Random, lines: int) -> Iterator[str]:
    for number in range(lines):
        if number % 9 == 0:
            yield f"## {dice.choice(SUBJECTS).title()} {dice.randrange(100)}\n"
        yield f"- {_english(dice) if dice.random() < 0.5 else _chinese(dice)}\n"


def _english(dice: Random) -> str:
    return (
        f"The {dice.choice(SUBJECTS)} of floor {dice.randrange(100)} {dice.choice(VERBS)} {dice.randrange(2, 100)} "
        f"{dice.choice(OBJECTS)} {dice.choice(ENDS.split('|'))}, and the {dice.choice(SUBJECTS)} {dice.choice(VERBS)} "
        f"its {dice.choice(OBJECTS)}."
    )


def _chinese(dice: Random) -> str:
    return (
        f"{dice.randrange(100)} 楼的{dice.choice(NOUNS)}{dice.choice(PLACES)}{dice.choice(ACTIONS)}"
        f"{dice.randrange(2, 100)} 个{dice.choice(THINGS)}，"
        f"{dice.choice(NOUNS)}{dice.choice(ACTIONS)}{dice.choice(THINGS)}。"
    )
