-- Which fragments match, best first, and where do they stand (newest day, then path and line)?
WITH found (key, rank) AS (
    SELECT rowid, rank
    FROM fragment_fts
    WHERE fragment_fts MATCH :match
      AND EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = fragment_fts.rowid)
    ORDER BY rank
    LIMIT :limit
),
places AS (
    SELECT
        found.key, found.rank, sighting.day, sighting.path, sighting.start_line, sighting.end_line,
        row_number() OVER (
            PARTITION BY found.key ORDER BY sighting.day DESC, sighting.path, sighting.start_line
        ) AS nth
    FROM found JOIN sighting ON sighting.fragment = found.key
)
SELECT
    fragment.key, fragment.id, fragment.text, places.path, places.start_line, places.end_line,
    round(-places.rank, 6)
FROM places JOIN fragment ON fragment.key = places.key
WHERE places.nth = 1
ORDER BY round(places.rank, 6), places.day DESC, fragment.id
