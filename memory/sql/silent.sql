-- How many fragments stand somewhere and were never recalled?
SELECT count(DISTINCT sighting.fragment)
FROM sighting
WHERE sighting.fragment NOT IN (
    SELECT statement.fragment FROM signal JOIN statement ON statement.id = signal.statement
)
