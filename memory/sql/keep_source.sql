-- Keeps what was read of a file.
INSERT INTO source_file (path, kind, day, size, mtime_ns, ctime_ns, digest, cursor)
VALUES (:path, :kind, :day, :size, :mtime_ns, :ctime_ns, :digest, :cursor)
ON CONFLICT (path) DO UPDATE
SET kind = excluded.kind,
    day = excluded.day,
    size = excluded.size,
    mtime_ns = excluded.mtime_ns,
    ctime_ns = excluded.ctime_ns,
    digest = excluded.digest,
    cursor = excluded.cursor
