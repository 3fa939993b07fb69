-- Which of very many fragments that match were read last? They are not ranked.
SELECT rowid, 0.0
FROM fragment_fts
WHERE fragment_fts MATCH :match
  AND EXISTS (
    SELECT 1
    FROM sighting
    WHERE sighting.fragment = fragment_fts.rowid
      AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
      AND (:since IS NULL OR day >= :since)
      AND (:until IS NULL OR day <= :until)
  )
ORDER BY rowid DESC
LIMIT :limit
