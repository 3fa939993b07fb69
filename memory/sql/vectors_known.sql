-- Up to which fragment and after which change of the vectors was it seen that none is missing?
SELECT
    :model || ' ' || coalesce((SELECT max(key) FROM fragment), 0)
    || ' ' || coalesce((SELECT value FROM setting WHERE name = 'vector changes'), '0')
