-- Which fragments stand somewhere or were recalled?
SELECT fragment.id
FROM fragment
WHERE EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = fragment.key)
   OR EXISTS (
    SELECT 1 FROM statement JOIN signal ON signal.statement = statement.id WHERE statement.fragment = fragment.key
   )
ORDER BY fragment.key
