-- How much does the store hold?
SELECT
    (SELECT count(*) FROM fragment),
    (SELECT count(DISTINCT fragment) FROM sighting),
    (SELECT count(*) FROM sighting),
    (SELECT count(*) FROM (SELECT DISTINCT query_hash, day FROM signal)),
    (SELECT count(*) FROM source_file)
