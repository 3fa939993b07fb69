-- Forgets what nights had to tell of fragments that are gone, so that it cannot be told again.
DELETE FROM telling
WHERE EXISTS (SELECT 1 FROM json_each(telling.fragments) WHERE value IN (SELECT value FROM json_each(:ids)))
