-- Which fragments have no vector of a model yet, newest first?
SELECT key, text
FROM fragment
WHERE key NOT IN (SELECT fragment FROM vector WHERE model = :model)
ORDER BY key DESC
LIMIT :limit
