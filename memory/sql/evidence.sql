-- What do the signals of each wanted fragment add up to? Votes for what was promoted on other nights are spent.
WITH wanted (key, id) AS (
    SELECT key, id FROM fragment WHERE id IN (SELECT value FROM json_each(:ids))
),
spent (statement) AS (
    SELECT promoted_statement.statement
    FROM promoted_statement JOIN promotion ON promotion.id = promoted_statement.promotion
    WHERE promotion.night IS NOT :tonight
),
open (key, statement) AS (
    SELECT own.fragment, own.id
    FROM wanted JOIN statement AS own ON own.fragment = wanted.key
    WHERE own.id NOT IN (SELECT statement FROM spent)
       OR NOT EXISTS (
        SELECT 1 FROM statement AS other
        WHERE other.fragment = own.fragment AND other.id NOT IN (SELECT statement FROM spent)
       )
),
counted (key, kind, source, day, score, at) AS (
    SELECT open.key, signal.kind, signal.query_hash, signal.day, max(signal.score), max(signal.at)
    FROM open JOIN signal ON signal.statement = open.statement
    GROUP BY open.key, signal.kind, signal.query_hash, signal.day
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
