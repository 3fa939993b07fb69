-- Which statements has each wanted fragment, how many votes has each, and on which night but :tonight was it promoted?
SELECT
    fragment.id,
    statement.text,
    (SELECT count(*) FROM signal WHERE signal.statement = statement.id),
    (
        SELECT promotion.night
        FROM promoted_statement JOIN promotion ON promotion.id = promoted_statement.promotion
        WHERE promoted_statement.statement = statement.id AND promotion.night IS NOT :tonight
    )
FROM fragment JOIN statement ON statement.fragment = fragment.key
WHERE fragment.id IN (SELECT value FROM json_each(:ids))
ORDER BY fragment.key, statement.position
