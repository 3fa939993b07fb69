SELECT f.id, s.id, s.text
FROM json_each(:ids) AS wanted
JOIN fragment AS f ON f.id = wanted.value
JOIN statement AS s ON s.fragment = f.key
ORDER BY f.key, s.position
