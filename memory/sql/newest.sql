-- Which of very many fragments that match were read last, and where do they stand (newest day, then path and line)?
WITH matching (key, rank, place) AS (
    SELECT
        rowid,
        0.0,
        (
            SELECT day || path || printf('%09d', start_line)
            FROM sighting
            WHERE sighting.fragment = fragment_fts.rowid
              AND (:kind IS NULL OR kind = :kind)
              AND (:since IS NULL OR day >= :since)
              AND (:until IS NULL OR day <= :until)
            ORDER BY day DESC, path DESC, start_line DESC
            LIMIT 1
        )
    FROM fragment_fts
    WHERE fragment_fts MATCH :match
      AND EXISTS (
        SELECT 1
        FROM sighting
        WHERE sighting.fragment = fragment_fts.rowid
          AND (:kind IS NULL OR kind = :kind)
          AND (:since IS NULL OR day >= :since)
          AND (:until IS NULL OR day <= :until)
      )
    ORDER BY rowid DESC
    LIMIT :limit
),
found (key, rank, place) AS (
    SELECT key, rank, place FROM matching
)
SELECT
    fragment.key,
    fragment.id,
    fragment.text,
    substr(found.place, 11, length(found.place) - 19),
    CAST(substr(found.place, -9) AS INTEGER),
    (
        SELECT max(end_line)
        FROM sighting
        WHERE sighting.path = substr(found.place, 11, length(found.place) - 19)
          AND sighting.start_line = CAST(substr(found.place, -9) AS INTEGER)
          AND sighting.fragment = found.key
    ),
    -found.rank
FROM found JOIN fragment ON fragment.key = found.key
ORDER BY found.place DESC
