"""A workspace lived in at random: whatever happens, nobody's words are lost and nothing is said twice.

`SOAK=1` lives longer, and differently each time.
"""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from itertools import count
from pathlib import Path
from pkgutil import resolve_name
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dreaming.changes.undo import ConflictError, NoRoomError, NothingToRedoError, NothingToUndoError, redo, undo
from dreaming.explain import examined
from dreaming.home import DREAMS, MEMORY
from dreaming.night import NightReport, run_night
from dreaming.promotion import ledger, review
from dreaming.reading import get, search
from house import House, moment
from memory.model import FragmentId, Phase
from memory.promotions import Promotion, State
from workspace import dreams, durable
from workspace.errors import WorkspaceError
from workspace.lines import split_lines
from workspace.sections import Own, layout

SOAK = "SOAK" in os.environ
QUICK = Path("/dev/shm")
"""In memory a night need not wait for the disk."""
PAGES = (MEMORY, DREAMS)
SAID = (
    "- Garage panel takes a CR2450 cell",
    "- Boat is called Kestrel",
    "- Which boat is called Kestrel?",
    "- The chess club meets on Tuesday at the library",
    "- Correction: the chess club meets on Thursday at the library",
    "- Correction: the chess club meets on Sunday at the library",
    "- Trip to Kyoto with Mika 6–9 March",
    "- Staging runs on port 8080",
    "- Correction: staging runs on port 9090",
    "- 测试必须使用真实数据库，不接受 mock",
    "- 每周五下午不部署，因为周末没有人值班",
    "- 更正：每周四下午不部署，因为周末没有人值班",
    "1. Ask Ana before every release",
    "The router sticker is under the desk. It was moved there because the shelf broke.",
    "## Servers",
    "",
)
ASKED = (
    ("garage panel cell", "CR2450", "which cell does the garage panel take"),
    ("boat name", "kestrel boat", "what is the boat called"),
    ("when does the chess club meet", "chess club day", "club library"),
    ("trip to Kyoto", "Kyoto with Mika", "when is the Kyoto trip"),
    ("staging port", "which port does staging run on", "staging runs on"),
    ("真实数据库 测试", "mock 测试", "测试 数据库"),
    ("下午 部署", "周末 值班", "下午不部署"),
    ("Ana release", "who to ask before a release", "ask Ana"),
    ("router sticker", "sticker under the desk", "why was the sticker moved"),
)
WROTE = ("my note {}", "- my item {}", "  - what hangs on it {}", "### My heading {}", "我的笔记 {}")
AGAIN = ("* Boat is called Kestrel. ({})", "* Staging runs on port 8080. ({})")
"""What the user writes into a page; the number makes each line one of a kind."""
LINES = st.lists(st.sampled_from(SAID), min_size=1, max_size=3)
TOPICS = st.lists(st.sampled_from(ASKED), min_size=2, max_size=5, unique=True)
DAYS = st.lists(st.tuples(LINES, TOPICS, st.booleans()), min_size=1, max_size=3)
most_days = rule(lines=LINES, topics=TOPICS, again=st.booleans())
PICK = st.integers(0, 20)
"""Which of those that there are; counted around."""
PHASES = (*((phase,) for phase in Phase), *[tuple(Phase)] * 4)


T = TypeVar("T")


def _picked(among: Sequence[T], which: int) -> T:
    return among[which % len(among)]


class Killed(BaseException):
    """The process ends here."""


FULL = OSError(28, "No space left on device")
CRASHES = (
    ("dreaming.changes.history._plan", Killed()),
    ("dreaming.changes.history._settle", Killed()),
    ("dreaming.night._finish", Killed()),
    ("dreaming.pages.write", Killed()),
    ("dreaming.promotion.promote._archive", Killed()),
    ("dreaming.tell.record", Killed()),
    ("memory.changes.Changes.settle", Killed()),
    ("memory.promotions.Promotions.settle", Killed()),
    ("workspace.files._fill", Killed()),
    ("workspace.files._fill", FULL),
    ("workspace.files.make", FULL),
    ("workspace.files._swap", FULL),
    ("workspace.files._swap", Killed()),
    ("workspace.files._sync", Killed()),
)


@contextmanager
def crashing(place: str, error: BaseException, *, at: int, after: bool) -> Iterator[None]:
    """Raise once for the block, at a call of a function, or when it has done its work."""
    with pytest.MonkeyPatch.context() as patch:
        calls, real = count(1), resolve_name(place)

        def crash(*args: object, **kwargs: object) -> object:
            now = next(calls) == at
            if now and not after:
                raise error
            result = real(*args, **kwargs)
            if now and isinstance(error, Killed):
                raise error
            return result

        patch.setattr(place, crash)
        yield


class Life(RuleBasedStateMachine):
    """A user, an agent that searches, and nights; `mine` are the lines of the pages that the user wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="life-", dir=QUICK if QUICK.is_dir() else None))
        self.house = House(
            self.root, **{"deep.min_score": 0.3, "deep.min_recall_count": 2, "deep.min_unique_queries": 2}
        )
        self.now = datetime.fromisoformat("2026-03-02T08:00")
        self.diaries: dict[str, str] = {}
        self.mine: dict[str, set[str]] = {name: set() for name in PAGES}
        self.expected: dict[str, list[str]] = {name: [] for name in PAGES}
        self.removed: set[str] = set()
        self.numbers = count(1)
        self.crashed = False
        self.nights: set[date] = set()
        self.undoable: tuple[date, dict[str, str]] | None = None
        self.redoable: dict[str, str] | None = None

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @initialize(days=DAYS)
    def begin(self, days: Sequence[tuple[list[str], list[tuple[str, str, str]], bool]]) -> None:
        for lines, topics, again in days:
            self._live(lines, topics, again)

    # -- the user's diaries -------------------------------------------------------------------------------------

    @rule(back=st.integers(0, 2), line=st.sampled_from(SAID), end=st.sampled_from(("\n", "\n", "\r\n", "")))
    def note(self, back: int, line: str, end: str) -> None:
        name = self._name(back)
        text = self.diaries.get(name, "")
        gap = "\n" if text and not text.endswith("\n") else ""
        self._diary(back, f"{text}{gap}{line}{end}")

    @precondition(lambda self: self.diaries)
    @rule(file=PICK, line=PICK, new=st.lists(st.sampled_from(SAID), max_size=2))
    def rewrite(self, file: int, line: int, new: list[str]) -> None:
        name = _picked(sorted(self.diaries), file)
        lines = self.diaries[name].split("\n")
        at = line % len(lines)
        lines[at : at + 1] = new
        self._wrote(name, "\n".join(lines))

    @precondition(lambda self: len(self.diaries) > 1)
    @rule(file=PICK)
    def forget(self, file: int) -> None:
        name = _picked(sorted(self.diaries), file)
        del self.diaries[name]
        (self.root / name).unlink()

    def _name(self, back: int) -> str:
        return f"memory/{(self.now - timedelta(days=back)).date()}.md"

    def _diary(self, back: int, text: str) -> None:
        self._wrote(self._name(back), text)

    def _wrote(self, name: str, text: str) -> None:
        path = self.house.write(name, text)
        stamp = next(self.numbers) * 1_000_000_000
        os.utime(path, ns=(stamp, stamp))  # two edits in one tick of the clock are told apart
        self.diaries[name] = text

    # -- the user's pages ---------------------------------------------------------------------------------------

    @rule(name=st.sampled_from(PAGES), words=st.sampled_from((*WROTE, *AGAIN)), place=PICK, cut=st.booleans())
    def write(self, name: str, words: str, place: int, cut: bool) -> None:
        text = self.house.read(name)
        lines, line = split_lines(text), words.format(next(self.numbers))
        places = [at for at in range(len(lines) + 1) if self._is_free(name, text, at)]
        at = _picked(places, place)
        end = "\r\n" if "\r\n" in text else "\n"
        if at and not lines[at - 1].endswith("\n"):
            lines[at - 1] += end
        lines.insert(at, line if cut and at == len(lines) else f"{line}{end}")
        self.mine[name].add(line)
        self._saved(name, "".join(lines))

    def _is_free(self, name: str, text: str, at: int) -> bool:
        """Tell whether a line may be written there: not inside a promoted line, nor a block of the dream diary."""
        if name == MEMORY:
            return not any(at in own.place[1:] for own in layout(text).own)
        above = "".join(split_lines(text)[:at])
        return above.count(":start -->") == above.count(":end -->")

    @rule(which=PICK)
    def reword(self, which: int) -> None:
        if own := self._some(which):
            lines = split_lines(self.house.read(MEMORY))
            at = own.place[-1]
            bare = lines[at].rstrip("\r\n")
            new = f"{bare}, as I say ({next(self.numbers)})"
            self.mine[MEMORY].discard(bare)
            self.mine[MEMORY].add(new)
            lines[at] = new + lines[at][len(bare) :]
            self._saved(MEMORY, "".join(lines))

    @precondition(lambda self: not self.crashed)
    @rule(which=PICK, whole=st.booleans())
    def take_out(self, which: int, whole: bool) -> None:
        if own := self._some(which):
            lines = split_lines(self.house.read(MEMORY))
            self.mine[MEMORY].discard(lines[own.place[-1]].rstrip("\r\n"))
            if whole:
                written = {p.key: p.text for p in self._promotions(State.IN_FORCE)}
                self.removed.add(durable.wording(written[own.written.key, own.written.statements]))
            del lines[own.place.start if whole else own.place[-1] : own.place.stop]
            self._saved(MEMORY, "".join(lines))

    def _some(self, which: int) -> Own | None:
        own = [one for one in layout(self.house.read(MEMORY)).own if len(one.place) > 1]
        return _picked(own, which) if own else None

    @rule(which=PICK)
    def retell(self, which: int) -> None:
        text = self.house.read(DREAMS)
        told = dreams.entries(text)
        if told:
            prose = _picked(told, which).prose.split("\n")[0]
            line = f"{prose} I doubt it ({next(self.numbers)})."
            self.mine[DREAMS].discard(prose)
            self.mine[DREAMS].add(line)
            self._saved(DREAMS, text.replace(prose, line, 1))

    @rule(name=st.sampled_from(PAGES), end=st.sampled_from(("\n", "\r\n")))
    def change_the_ends(self, name: str, end: str) -> None:
        if text := self.house.read(name):
            self._saved(name, text.replace("\r\n", "\n").replace("\n", end))

    @rule(name=st.sampled_from(PAGES))
    def cut_the_last_end(self, name: str) -> None:
        if text := self.house.read(name):
            self._saved(name, text.rstrip("\r\n"))

    def _saved(self, name: str, text: str) -> None:
        self.house.write(name, text)
        self.expected[name] = self._kept(name)
        self.undoable = self.redoable = None

    def _kept(self, name: str) -> list[str]:
        """Return the user's lines as they stand in a page, with their ends."""
        return [line for line in split_lines(self.house.read(name)) if line.rstrip("\r\n") in self.mine[name]]

    # -- the agent, the clock, the settings ---------------------------------------------------------------------

    @rule(topics=st.lists(st.sampled_from(ASKED), min_size=1, max_size=3, unique=True), times=st.integers(1, 3))
    def ask(self, topics: Sequence[Sequence[str]], times: int) -> None:
        with self.house.home() as home:
            for query in (query for topic in topics for query in topic[:times]):
                found = search(home, query, now=moment(self._at))
                assert not found.problems

    @precondition(lambda self: any(self.diaries.values()))
    @rule(file=PICK, line=PICK)
    def open(self, file: int, line: int) -> None:
        name = _picked(sorted(name for name, text in self.diaries.items() if text), file)
        line = line % len(split_lines(self.diaries[name])) + 1
        with self.house.home() as home:
            assert not get(home, f"{name}:{line}", now=moment(self._at)).problems

    @rule(hours=st.sampled_from((1, 5, 20, 24, 24, 30, 72, 24 * 9, 24 * 30)))
    def wait(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(days=st.integers(1, 4))
    def set_the_clock_back(self, days: int) -> None:
        self.now -= timedelta(days=days)

    @rule(budget=st.sampled_from((100, 330, 500, 900, 10_000)), evict=st.sampled_from(("oldest", "least-used")))
    def allow(self, budget: int, evict: str) -> None:
        self.house.settings |= {"memory.budget_chars": budget, "memory.evict": evict}
        self.redoable = None

    @rule(mode=st.sampled_from(("apply", "apply", "review")))
    def choose(self, mode: str) -> None:
        self.house.settings["memory.mode"] = mode

    @property
    def _at(self) -> str:
        return self.now.isoformat()

    # -- the program --------------------------------------------------------------------------------------------

    def _live(self, lines: Sequence[str], topics: Sequence[Sequence[str]], again: bool) -> None:
        """Do what most days are made of: the agent writes and asks, then there is a night."""
        for line in lines:
            self.note(0, line, "\n")
        self.now += timedelta(hours=1)
        self.ask(topics, 3)
        self.now = self.now.replace(hour=3) + timedelta(days=1)
        self.night(tuple(Phase), again)

    live = most_days(_live)
    live_on = most_days(_live)
    live_long = most_days(_live)
    live_well = most_days(_live)

    @rule(phases=st.sampled_from(PHASES), again=st.booleans())
    def night(self, phases: Sequence[Phase], again: bool) -> None:
        night = self.now.date()
        fresh = night not in self.nights
        self.undoable = (night, self._pages()) if fresh and not self.crashed else None
        eligible = self._eligible(phases) if fresh and Phase.DEEP in phases else None
        known, text = self._promotions(), self.house.read(MEMORY)
        report = self._ran(phases)
        new = self._new(known)
        assert eligible is None or {p.fragment for p in new} <= eligible, [p.text for p in new]
        if self.house.settings.get("memory.mode") == "review":
            assert self.house.read(MEMORY) == text
        elif Phase.DEEP in phases:
            self._keeps_the_budget(night)
        self._was_asked_for(new)
        self._agrees()
        if again:
            after = self._pages()
            assert self._ran(phases).problems == report.problems
            assert self._pages() == after

    def _ran(self, phases: Sequence[Phase]) -> NightReport:
        report = self.house.night(self._at, phases)
        assert not report.failed, report.problems
        self.nights.add(self.now.date())
        self.crashed, self.redoable = False, None
        return report

    @rule(which=PICK)
    def take_back(self, which: int) -> None:
        standing = [p.name for p in self._promotions(State.IN_FORCE)]
        what = _picked([None, *standing, None, *sorted({str(night) for night in self.nights})], which)
        before, ready = self._pages(), not self.crashed
        try:
            with self.house.home() as home:
                done = undo(home, what, now=moment(self._at))
        except (NothingToUndoError, ConflictError):
            assert self._pages() == before or not ready
        else:
            if what is None and self.undoable and self.undoable[0] == done.night:
                assert self._pages() == self.undoable[1]
            self.redoable = before if ready else None
        self.undoable, self.crashed = None, False
        self._agrees()

    @rule()
    def do_again(self) -> None:
        before, ready = self._pages(), not self.crashed
        try:
            with self.house.home() as home:
                redo(home, now=moment(self._at))
        except (NothingToRedoError, NoRoomError, ConflictError):
            assert self._pages() == before or not ready
        else:
            assert not self.redoable or self._pages() == self.redoable
            self.redoable = None
        self.undoable, self.crashed = None, False
        self._agrees()

    @rule(which=PICK, yes=st.booleans())
    def decide(self, which: int, yes: bool) -> None:
        waiting = sorted({p.fragment for p in self._promotions(State.PROPOSED)})
        if not waiting:
            return
        what, known = _picked(waiting, which), self._promotions(State.IN_FORCE)
        try:
            with self.house.home() as home:
                if yes:
                    review.accept(home, what, now=moment(self._at))
                else:
                    review.reject(home, what, now=moment(self._at))
        except (review.NotAcceptedError, review.UnknownProposalError):
            assert self._promotions(State.IN_FORCE) == known or self.crashed
        self.undoable = self.redoable = None

    @rule(
        crash=st.sampled_from(CRASHES),
        at=st.integers(1, 6),
        after=st.booleans(),
        act=st.sampled_from(("night", "night", "undo", "redo", "accept")),
    )
    def crash(self, crash: tuple[str, BaseException], at: int, after: bool, act: str) -> None:
        place, error = crash
        self.undoable = self.redoable = None
        self.crashed = True
        try:
            with crashing(place, error, at=at, after=after), self.house.home() as home:
                now = moment(self._at)
                if act == "night":
                    self.nights.add(self.now.date())
                    run_night(home, phases=tuple(Phase), now=now)
                elif act == "undo":
                    undo(home, None, now=now)
                elif act == "redo":
                    redo(home, now=now)
                elif waiting := home.promotions.all(State.PROPOSED):
                    review.accept(home, waiting[0].fragment, now=now)
        except (Killed, WorkspaceError, NothingToRedoError, NothingToUndoError, NoRoomError, ConflictError):
            pass
        except (review.NotAcceptedError, review.UnknownProposalError):
            pass

    @rule()
    def recover(self) -> None:
        with self.house.home() as home:
            ledger.recover(home, now=moment(self._at))
        self.crashed = False
        self._agrees()

    def _pages(self) -> dict[str, str]:
        """Return a digest of every file that the program may write."""
        return {name: digest for name, digest in self.house.digests().items() if not name.startswith("memory/2026-")}

    # -- what holds ---------------------------------------------------------------------------------------------

    @invariant()
    def the_diaries_are_the_users(self) -> None:
        assert {name: self.house.read(name) for name in self.diaries} == self.diaries

    @invariant()
    def every_line_of_the_users_stands_where_it_stood(self) -> None:
        for name in PAGES:
            kept, expected = self._kept(name), self.expected[name]
            assert [line.rstrip("\r\n") for line in kept] == [line.rstrip("\r\n") for line in expected]
            assert all(now == was or was == was.rstrip("\r\n") for now, was in zip(kept, expected, strict=True))

    @invariant()
    def nothing_stands_twice(self) -> None:
        own = durable.promoted(self.house.read(MEMORY))
        keys = Counter((line.key, line.statements) for line in own)
        words = Counter(line.text for line in own if line.text)
        assert not [twice for twice, times in (*keys.items(), *words.items()) if times > 1]

    @invariant()
    def what_the_user_took_out_stays_out(self) -> None:
        assert not self.removed & {line.text for line in durable.promoted(self.house.read(MEMORY))}

    def _agrees(self) -> None:
        written = durable.standing(self.house.read(MEMORY))
        standing = self._promotions(State.IN_FORCE)
        assert written == {promotion.key for promotion in standing}
        assert not self._promotions(State.PLANNED)
        said = Counter(statement for promotion in standing for statement in promotion.statements)
        assert not [twice for twice, times in said.items() if times > 1]

    def _keeps_the_budget(self, night: date) -> None:
        text, budget = self.house.read(MEMORY), self.house.settings.get("memory.budget_chars", 10_000)
        assert isinstance(budget, int)
        written = {p.key: durable.wording(p.text) for p in self._promotions(State.IN_FORCE)}
        free = [
            own.written.mark
            for own in layout(text).own
            if own.written.day not in (None, night)
            and not own.hangs
            and written.get(own.written.mark) == own.written.text  # a marker that lost its line is the user's
        ]
        assert len(text) <= budget or len(durable.without(text, free)) > budget

    def _eligible(self, phases: Sequence[Phase]) -> set[FragmentId]:
        """Return what passes every gate at the time of the deep phase; what had no room may have some now."""
        now = moment(self._at)
        with self.house.home(dry=True) as home:
            run_night(home, phases=[phase for phase in phases if phase is not Phase.DEEP], now=now)
            found = examined(home, home.store.recalled(), now=now)
        return {one.candidate.id for one in found if {gate.name for gate in one.failed} <= {"budget"}}

    def _was_asked_for(self, new: Sequence[Promotion]) -> None:
        """Ask the rows themselves: votes count from when a promotion of the same statement ended."""
        with self.house.home() as home:
            for promotion in new:
                (votes,) = home.store.db.conn.execute(ASKED_FOR, {"promotion": promotion.id}).fetchone()
                assert votes >= 2, promotion.text

    def _new(self, known: Sequence[Promotion]) -> list[Promotion]:
        return [p for p in self._promotions() if p.id not in {one.id for one in known}]

    def _promotions(self, *states: State) -> tuple[Promotion, ...]:
        with self.house.home() as home:
            return home.promotions.all(*states)


ASKED_FOR = """
    SELECT count(DISTINCT signal.query_hash || signal.day) AS votes
    FROM signal JOIN promoted_statement AS said ON said.statement = signal.statement
    WHERE said.promotion = :promotion AND signal.kind <> 'sighting' AND signal.at > coalesce((
        SELECT max(ended_at) FROM promotion JOIN promoted_statement ON promotion.id = promoted_statement.promotion
        WHERE promoted_statement.statement = signal.statement AND state IN ('dropped', 'undone', 'rejected')
    ), '')
    GROUP BY signal.statement ORDER BY votes DESC LIMIT 1
"""


def redone(house: House, lines: str, *queries: str) -> list[str]:
    """Take a night back, promote again by new votes, do the night again; return what stands in the file."""
    house.settings |= {"deep.min_score": 0.3, "deep.min_recall_count": 2}
    house.write("memory/2026-03-02.md", lines)
    for number, query in enumerate(queries[:3]):
        house.search(query, f"2026-03-02T1{number}:00")
    house.night("2026-03-03T03:00")
    with house.home() as home:
        undo(home, None, now=moment("2026-03-03T09:00"))
    for number, query in enumerate(queries):
        house.search(query, f"2026-03-03T1{number}:00")
    house.night("2026-03-04T03:00")
    with house.home() as home:
        redo(home, now=moment("2026-03-04T09:00"))
    return [line.text for line in durable.promoted(house.read(MEMORY))]


def test_what_was_promoted_anew_is_not_done_again(house: House) -> None:
    boat = ("boat name", "kestrel boat", "what is the boat called")
    assert redone(house, "- Boat is called Kestrel\n", *boat) == ["Boat is called Kestrel"]


def test_what_was_promoted_anew_with_its_neighbour_is_not_done_again(house: House) -> None:
    asked = (*ASKED[5], *ASKED[4])
    (line,) = redone(house, "- 测试必须使用真实数据库，不接受 mock\n- Staging runs on port 9090\n", *asked)
    assert line == "测试必须使用真实数据库，不接受 mock; Staging runs on port 9090"


TestLife = pytest.mark.timeout(0 if SOAK else 300)(Life.TestCase)
TestLife.settings = settings(max_examples=12, stateful_step_count=25)
if SOAK:
    TestLife.settings = settings(max_examples=400, stateful_step_count=60, derandomize=False)
