-- Which entries were told, newest first: before a night, on a night, or all?
SELECT night, phase, stamp, language, narrator, prose, written, taken_back
FROM narrative
WHERE (:before IS NULL OR night < :before) AND (:night IS NULL OR night = :night)
ORDER BY night DESC, CASE phase WHEN 'light' THEN 1 WHEN 'rem' THEN 2 ELSE 3 END DESC
LIMIT :limit
