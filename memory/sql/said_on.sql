-- What was said in conversations on a day, by session and line?
SELECT sighting.path, sighting.start_line, fragment.text
FROM sighting JOIN fragment ON fragment.key = sighting.fragment
WHERE sighting.kind = 'session' AND sighting.day = :day
ORDER BY sighting.path, sighting.start_line, fragment.key
