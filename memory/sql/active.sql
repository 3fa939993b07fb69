-- Which fragments had a signal between :since and :until, stand somewhere, and have a statement not promoted on
-- another night than :tonight?
WITH touched (key) AS (
    SELECT fragment FROM sighting WHERE at BETWEEN :since AND :until
    UNION
    SELECT statement.fragment
    FROM signal JOIN statement ON statement.id = signal.statement
    WHERE signal.at BETWEEN :since AND :until
)
SELECT fragment.id
FROM touched JOIN fragment ON fragment.key = touched.key
WHERE EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = touched.key)
  AND EXISTS (
    SELECT 1 FROM statement
    WHERE statement.fragment = touched.key
      AND statement.id NOT IN (
        SELECT statement FROM held WHERE night IS NOT :tonight AND (ended_on IS NULL OR ended_on = :tonight)
      )
  )
ORDER BY fragment.key
