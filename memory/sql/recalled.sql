-- Which fragments has anybody asked for, or been told to remember, since a promotion of them ended, if not :tonight?
SELECT fragment.id
FROM fragment
WHERE fragment.key IN (
    SELECT statement.fragment
    FROM vote JOIN statement ON statement.id = vote.statement
    WHERE vote.spent_on IS NULL OR vote.spent_on = :tonight
)
ORDER BY fragment.key
