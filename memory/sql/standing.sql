-- Which of these fragments stand somewhere, seen from some kinds of places, a first and a last day (NULL is any)?
SELECT value
FROM json_each(:keys)
WHERE EXISTS (
    SELECT 1
    FROM sighting
    WHERE sighting.fragment = value
      AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
      AND (:since IS NULL OR day >= :since)
      AND (:until IS NULL OR day <= :until)
)
