-- How many characters stand somewhere in each language?
SELECT language, sum(length(text))
FROM fragment
WHERE EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = fragment.key)
GROUP BY language
ORDER BY 2 DESC, 1
