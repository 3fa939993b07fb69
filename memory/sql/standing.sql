-- Which of these fragments stand somewhere, seen from a kind of place, a first and a last day (NULL is any)?
SELECT value
FROM json_each(:keys)
WHERE EXISTS (
    SELECT 1
    FROM sighting
    WHERE sighting.fragment = value
      AND (:kind IS NULL OR kind = :kind)
      AND (:since IS NULL OR day >= :since)
      AND (:until IS NULL OR day <= :until)
)
