-- Which fragments have no vector of a model as it is now, newest first, and what do they say one by one, if several things?
SELECT
    key,
    text,
    (
        SELECT CASE WHEN count(*) > 1 THEN json_group_array(said) ELSE '[]' END
        FROM (
            SELECT CASE WHEN heading = '' THEN '' ELSE heading || ': ' END || statement.text AS said
            FROM statement
            WHERE statement.fragment = fragment.key
            ORDER BY position
        )
    )
FROM fragment
WHERE key NOT IN (SELECT fragment FROM vector WHERE model = :model AND dimension = coalesce(:dimension, dimension))
ORDER BY key DESC
LIMIT :limit
