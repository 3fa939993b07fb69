-- Where does each wanted fragment stand?
SELECT fragment.id, s.path, s.start_line, s.end_line, s.kind, s.day, s.score, s.at, s.quoted
FROM fragment JOIN sighting AS s ON s.fragment = fragment.key
WHERE fragment.id IN (SELECT value FROM json_each(:ids))
ORDER BY s.day, s.path, s.start_line
