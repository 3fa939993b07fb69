-- Which fragment that stands in a diary or a saved memory makes one of these statements (the newest one)?
SELECT statement.text, fragment.id, max(fragment.key)
FROM json_each(:texts) AS wanted
JOIN statement ON statement.text = wanted.value
JOIN fragment ON fragment.key = statement.fragment
WHERE EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = fragment.key AND sighting.kind <> 'session')
GROUP BY statement.text
