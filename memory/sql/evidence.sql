-- What do the signals of each wanted fragment add up to, to the end of a day? Votes for what was promoted on other
-- nights are spent, and those for what may not be written (:withheld) say nothing of the rest. A list is as good as its
-- most asked-for statement: questions about others say nothing of that one.
WITH wanted (key, id, is_list) AS (
    SELECT key, id, style <> 'paragraph' FROM fragment WHERE id IN (SELECT value FROM json_each(:ids))
),
spent (statement) AS (
    SELECT statement FROM held WHERE night IS NOT :tonight AND (ended_on IS NULL OR ended_on = :tonight)
),
withheld (id, position) AS (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:withheld)
),
writable (key, position, statement, is_list) AS (
    SELECT wanted.key, statement.position, statement.id, wanted.is_list
    FROM wanted JOIN statement ON statement.fragment = wanted.key
    WHERE (wanted.id, statement.position) NOT IN (SELECT id, position FROM withheld)
),
open (key, position, statement, is_list) AS (
    SELECT own.key, own.position, own.statement, own.is_list
    FROM writable AS own
    WHERE own.statement NOT IN (SELECT statement FROM spent)
       OR NOT EXISTS (
        SELECT 1 FROM writable AS other
        WHERE other.key = own.key AND other.statement NOT IN (SELECT statement FROM spent)
       )
),
ranked (key, statement, is_list, place) AS (
    SELECT
        open.key,
        open.statement,
        open.is_list,
        row_number() OVER (PARTITION BY open.key ORDER BY count(vote.statement) DESC, open.position)
    FROM open
    LEFT JOIN vote
        ON vote.statement = open.statement
        AND vote.day <= :until
        AND (vote.spent_on IS NULL OR vote.spent_on = :tonight)
    GROUP BY open.key, open.position
),
counted (key, kind, source, day, score, at) AS (
    SELECT ranked.key, vote.kind, vote.query_hash, vote.day, max(vote.score), max(vote.at)
    FROM ranked JOIN vote ON vote.statement = ranked.statement
    WHERE (ranked.place = 1 OR NOT ranked.is_list)
      AND vote.day <= :until
      AND (vote.spent_on IS NULL OR vote.spent_on = :tonight)
    GROUP BY ranked.key, vote.kind, vote.query_hash, vote.day
    UNION ALL
    SELECT sighting.fragment, 'sighting', sighting.path, sighting.day, max(sighting.score), max(sighting.at)
    FROM wanted JOIN sighting ON sighting.fragment = wanted.key
    GROUP BY sighting.fragment, sighting.path, sighting.day
)
SELECT
    wanted.id,
    sum(counted.kind = 'recall'),
    sum(counted.kind = 'sighting'),
    sum(counted.kind = 'grounded'),
    round(sum(counted.score), 6),
    count(DISTINCT CASE WHEN counted.kind <> 'sighting' THEN counted.source END),
    group_concat(DISTINCT CASE WHEN counted.kind <> 'sighting' THEN counted.day END),
    min(counted.at),
    max(counted.at)
FROM wanted JOIN counted ON counted.key = wanted.key
GROUP BY wanted.key
