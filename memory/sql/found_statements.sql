-- Which statements have the fragments that were found?
SELECT fragment, text
FROM statement
WHERE fragment IN (SELECT value FROM json_each(:keys))
ORDER BY fragment, position
