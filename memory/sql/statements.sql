-- Which statements has each wanted fragment, how many votes has each, and on which night but :tonight was it promoted?
SELECT
    fragment.id,
    statement.text,
    (
        SELECT count(*)
        FROM vote
        WHERE vote.statement = statement.id AND (vote.spent_on IS NULL OR vote.spent_on = :tonight)
    ),
    (
        SELECT max(held.night)
        FROM held
        WHERE held.statement = statement.id
          AND held.night IS NOT :tonight
          AND (held.ended_on IS NULL OR held.ended_on = :tonight)
    )
FROM fragment JOIN statement ON statement.fragment = fragment.key
WHERE fragment.id IN (SELECT value FROM json_each(:ids))
ORDER BY fragment.key, statement.position
