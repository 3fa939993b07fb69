-- What are the wanted fragments?
SELECT id, heading, text, style, origin, language, tags, flaws
FROM fragment
WHERE id IN (SELECT value FROM json_each(:ids))
