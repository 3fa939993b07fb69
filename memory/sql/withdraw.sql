-- Forgets fragments that stand nowhere any more and were never promoted.
DELETE FROM fragment
WHERE key IN (SELECT value FROM json_each(:keys))
  AND NOT EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = fragment.key)
  AND NOT EXISTS (SELECT 1 FROM promotion WHERE promotion.fragment = fragment.id)
RETURNING id
