-- Which fragments match, best first (then newest day, path and line), and how well?
WITH matching (key, rank, place) AS (
    SELECT
        rowid,
        round(rank, 6),
        (
            SELECT day || path || printf('%09d', start_line)
            FROM sighting
            WHERE sighting.fragment = fragment_fts.rowid
              AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
              AND (:since IS NULL OR day >= :since)
              AND (:until IS NULL OR day <= :until)
            ORDER BY day DESC, path DESC, start_line DESC
            LIMIT 1
        )
    FROM fragment_fts
    WHERE fragment_fts MATCH :match
)
SELECT key, rank FROM matching WHERE place IS NOT NULL ORDER BY rank, place DESC LIMIT :limit
