-- Where do these ranked fragments stand (newest day, then path and line)? Best first, equal ones newest first.
WITH found (key, rank, place) AS (
    SELECT
        json_extract(value, '$[0]'),
        json_extract(value, '$[1]'),
        (
            SELECT day || path || printf('%09d', start_line)
            FROM sighting
            WHERE sighting.fragment = json_extract(ranked.value, '$[0]')
              AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
              AND (:since IS NULL OR day >= :since)
              AND (:until IS NULL OR day <= :until)
            ORDER BY day DESC, path DESC, start_line DESC
            LIMIT 1
        )
    FROM json_each(:ranked) AS ranked
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
    -found.rank,
    (
        SELECT kind
        FROM sighting
        WHERE sighting.path = substr(found.place, 11, length(found.place) - 19)
          AND sighting.start_line = CAST(substr(found.place, -9) AS INTEGER)
          AND sighting.fragment = found.key
    )
FROM found JOIN fragment ON fragment.key = found.key
WHERE found.place IS NOT NULL
ORDER BY found.rank, found.place DESC
