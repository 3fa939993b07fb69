-- Notes since when a fragment stands nowhere.
UPDATE fragment SET gone_at = :now
WHERE key = :key AND gone_at IS NULL AND NOT EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = :key)
