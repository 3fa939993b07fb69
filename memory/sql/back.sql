-- Notes that fragments which stood nowhere stand somewhere again.
UPDATE fragment SET gone_at = NULL
WHERE gone_at IS NOT NULL AND id IN (SELECT value FROM json_each(:ids))
