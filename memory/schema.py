"""The tables of the recall store, as migrations that are added to and never edited once shipped."""

from sqlite_utils import Database, Migrations

MIGRATIONS = Migrations("recall")
VERSION = 7
"""Number of migrations; kept in `PRAGMA user_version` so that opening a store costs one look."""

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""Whole words in any script, English ones by their stem; CJK is set apart character by character."""


@MIGRATIONS()
def m001_remember(db: Database) -> None:
    """Fragments, where they stand, what counts for them, and what the nights did."""
    for statement in TABLES:
        db.execute(statement)
    db.table("fragment").enable_fts(["search_text"], create_triggers=True, tokenize=TOKENIZER)
    db.execute("PRAGMA user_version = 1")


@MIGRATIONS()
def m002_find_by_meaning(db: Database) -> None:
    """Keep a vector for each fragment, and count their changes: that tells when loaded ones are out of date."""
    for statement in VECTORS:
        db.execute(statement)
    db.execute("PRAGMA user_version = 2")


@MIGRATIONS()
def m003_find_statements_by_meaning(db: Database) -> None:
    """Let vectors be made anew: those of a fragment now stand in one value, all of it first, then its statements."""
    db.execute("DELETE FROM vector")
    db.execute("PRAGMA user_version = 3")


@MIGRATIONS()
def m004_tell_again(db: Database) -> None:
    """Keep what each phase had to tell, so that it can be told again, and how telling it went."""
    db.execute(TELLING)
    db.execute("PRAGMA user_version = 4")


@MIGRATIONS()
def m005_trust_and_follow(db: Database) -> None:
    """Know of each place whether somebody else wrote what stands there, and of growing files where reading goes on."""
    db.execute("ALTER TABLE sighting ADD COLUMN quoted INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE source_file ADD COLUMN cursor TEXT")
    db.execute("CREATE INDEX statement_by_text ON statement (text)")
    db.execute("PRAGMA user_version = 5")


@MIGRATIONS()
def m006_take_back(db: Database) -> None:
    """Let promotions be proposed, taken back and superseded, and keep every change of a file of the user's."""
    for statement in TAKING_BACK:
        db.execute(statement)
    db.execute("PRAGMA user_version = 6")


@MIGRATIONS()
def m007_say_why(db: Database) -> None:
    """Keep with each promotion what it was decided on."""
    db.execute("ALTER TABLE promotion ADD COLUMN basis TEXT")
    db.execute("PRAGMA user_version = 7")


TABLES = (
    """
    CREATE TABLE fragment (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        heading TEXT NOT NULL,
        text TEXT NOT NULL,
        style TEXT NOT NULL,
        origin TEXT NOT NULL,
        language TEXT NOT NULL,
        tags TEXT NOT NULL,
        flaws TEXT NOT NULL,
        search_text TEXT NOT NULL,
        gone_at TEXT
    ) STRICT
    """,
    """
    CREATE TABLE statement (
        fragment INTEGER NOT NULL REFERENCES fragment (key) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (fragment, position)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX statement_by_id ON statement (id)",
    """
    CREATE TABLE source_file (
        path TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        day TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        digest TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE sighting (
        path TEXT NOT NULL REFERENCES source_file (path) ON DELETE CASCADE,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        fragment INTEGER NOT NULL REFERENCES fragment (key) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        day TEXT NOT NULL,
        score REAL NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (path, start_line, end_line, fragment)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX sighting_by_fragment ON sighting (fragment, day, path, start_line)",
    "CREATE INDEX sighting_by_time ON sighting (at)",
    """
    CREATE TABLE signal (
        statement TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('recall', 'grounded')),
        query_hash TEXT NOT NULL,
        day TEXT NOT NULL,
        score REAL NOT NULL,
        surface TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (statement, kind, query_hash, day)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX signal_by_time ON signal (at)",
    """
    CREATE TABLE night (
        date TEXT PRIMARY KEY,
        started_at TEXT NOT NULL,
        finished_at TEXT
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE phase_run (
        night TEXT NOT NULL REFERENCES night (date),
        phase TEXT NOT NULL,
        at TEXT NOT NULL,
        report TEXT NOT NULL,
        PRIMARY KEY (night, phase)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE phase_signal (
        fragment TEXT NOT NULL,
        mark TEXT NOT NULL CHECK (mark IN ('staged', 'considered', 'chosen')),
        night TEXT NOT NULL REFERENCES night (date),
        at TEXT NOT NULL,
        signals INTEGER NOT NULL,
        PRIMARY KEY (fragment, mark, night)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX phase_signal_by_night ON phase_signal (night, mark)",
    """
    CREATE TABLE promotion (
        id INTEGER PRIMARY KEY,
        fragment TEXT NOT NULL,
        statements TEXT NOT NULL,
        night TEXT NOT NULL REFERENCES night (date),
        score REAL NOT NULL,
        boost REAL NOT NULL,
        components TEXT NOT NULL,
        recalls INTEGER NOT NULL,
        text TEXT NOT NULL,
        path TEXT NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('planned', 'in force', 'dropped', 'removed')),
        ended_at TEXT,
        UNIQUE (fragment, statements)
    ) STRICT
    """,
    """
    CREATE TABLE promoted_statement (
        statement TEXT PRIMARY KEY,
        promotion INTEGER NOT NULL REFERENCES promotion (id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE refusal (
        night TEXT NOT NULL REFERENCES night (date),
        fragment TEXT NOT NULL,
        gate TEXT NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (night, fragment, gate)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE deep_night (
        night TEXT PRIMARY KEY REFERENCES night (date),
        refused TEXT NOT NULL,
        material TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE narrative (
        night TEXT NOT NULL REFERENCES night (date),
        phase TEXT NOT NULL,
        stamp TEXT NOT NULL,
        language TEXT NOT NULL,
        narrator TEXT NOT NULL,
        prose TEXT NOT NULL,
        written INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (night, phase)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE told (
        night TEXT NOT NULL,
        phase TEXT NOT NULL,
        fragment TEXT NOT NULL,
        PRIMARY KEY (night, phase, fragment),
        FOREIGN KEY (night, phase) REFERENCES narrative (night, phase) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE setting (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)

VECTORS = (
    """
    CREATE TABLE vector (
        fragment INTEGER PRIMARY KEY REFERENCES fragment (key) ON DELETE CASCADE,
        model TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        value BLOB NOT NULL
    ) STRICT
    """,
    "CREATE INDEX vector_by_model ON vector (model)",
    *(
        f"""
        CREATE TRIGGER vector_{event.lower()} AFTER {event} ON vector BEGIN
            INSERT INTO setting (name, value) VALUES ('vector changes', '1')
            ON CONFLICT (name) DO UPDATE SET value = CAST(value + 1 AS TEXT);
        END
        """
        for event in ("INSERT", "UPDATE", "DELETE")
    ),
)

TELLING = """
CREATE TABLE telling (
    night TEXT NOT NULL REFERENCES night (date),
    phase TEXT NOT NULL,
    stamp TEXT NOT NULL,
    asked TEXT NOT NULL,
    material TEXT NOT NULL,
    fragments TEXT NOT NULL,
    refused TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    answer_tokens INTEGER NOT NULL,
    PRIMARY KEY (night, phase)
) STRICT, WITHOUT ROWID
"""

PROMOTED = """
    CREATE TABLE promotion_anew (
        id INTEGER PRIMARY KEY,
        fragment TEXT NOT NULL,
        statements TEXT NOT NULL,
        night TEXT NOT NULL REFERENCES night (date),
        score REAL NOT NULL,
        boost REAL NOT NULL,
        components TEXT NOT NULL,
        recalls INTEGER NOT NULL,
        text TEXT NOT NULL,
        path TEXT NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (
            state IN ('planned', 'proposed', 'in force', 'dropped', 'removed', 'undone', 'superseded', 'rejected')
        ),
        ended_at TEXT,
        ended_on TEXT,
        replaces INTEGER
    ) STRICT
"""

TAKING_BACK = (
    PROMOTED,
    """
    INSERT INTO promotion_anew
    SELECT
        id, fragment, statements, night, score, boost, components, recalls, text, path, start_line, end_line, state,
        ended_at, NULL, NULL
    FROM promotion
    """,
    """
    CREATE TABLE promoted_statement_anew (
        statement TEXT NOT NULL,
        promotion INTEGER NOT NULL REFERENCES promotion_anew (id) ON DELETE CASCADE,
        PRIMARY KEY (statement, promotion)
    ) STRICT, WITHOUT ROWID
    """,
    "INSERT INTO promoted_statement_anew SELECT statement, promotion FROM promoted_statement",
    "DROP TABLE promoted_statement",
    "DROP TABLE promotion",
    "ALTER TABLE promotion_anew RENAME TO promotion",
    "ALTER TABLE promoted_statement_anew RENAME TO promoted_statement",
    "CREATE INDEX promoted_statement_by_promotion ON promoted_statement (promotion)",
    """
    CREATE UNIQUE INDEX promotion_standing ON promotion (fragment, statements)
    WHERE state IN ('planned', 'proposed', 'in force', 'removed')
    """,
    # A statement is held while a promotion of it stands or is proposed, or when the user took its line out.
    """
    CREATE VIEW held AS
    SELECT own.statement, promotion.night, promotion.state, promotion.ended_on
    FROM promoted_statement AS own JOIN promotion ON promotion.id = own.promotion
    WHERE promotion.state IN ('planned', 'proposed', 'in force', 'removed') OR promotion.ended_on IS NOT NULL
    """,
    # What was asked for before a promotion of it ended speaks for it no more: it has to prove itself again. What ended
    # in the course of a night is so from the next one on: `spent_on` is that night, and '' where the user ended it.
    """
    CREATE VIEW vote AS
    SELECT
        signal.*,
        (
            SELECT min(coalesce(promotion.ended_on, ''))
            FROM promoted_statement AS own JOIN promotion ON promotion.id = own.promotion
            WHERE own.statement = signal.statement
              AND promotion.state IN ('dropped', 'undone', 'superseded', 'rejected')
              AND promotion.ended_at >= signal.at
        ) AS spent_on
    FROM signal
    """,
    """
    CREATE TABLE image (
        digest TEXT PRIMARY KEY,
        base TEXT,
        depth INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        content BLOB NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE change (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        on_day TEXT NOT NULL,
        night TEXT,
        kind TEXT NOT NULL,
        file TEXT NOT NULL,
        reason TEXT NOT NULL,
        before TEXT,
        after TEXT,
        effects TEXT NOT NULL,
        undoes TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('planned', 'applied'))
    ) STRICT
    """,
    "ALTER TABLE narrative ADD COLUMN taken_back INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX change_by_file ON change (file, id)",
    "CREATE INDEX change_by_night ON change (night)",
)
