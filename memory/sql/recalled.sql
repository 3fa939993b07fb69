-- Which fragments has anybody asked for, or been told to remember?
SELECT fragment.id
FROM fragment
WHERE fragment.key IN (SELECT statement.fragment FROM vote JOIN statement ON statement.id = vote.statement)
ORDER BY fragment.key
