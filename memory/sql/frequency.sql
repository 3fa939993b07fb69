-- In how many fragments does a word stand, counted up to :limit, in how many of the :newest, and how many are those?
WITH newest (begins, size) AS (
    SELECT coalesce(max(key), 0) - :newest, min(coalesce(max(key), 0), :newest) FROM fragment
)
SELECT
    (SELECT count(*) FROM (SELECT 1 FROM fragment_fts WHERE fragment_fts MATCH :match LIMIT :limit)),
    (SELECT count(*) FROM fragment_fts WHERE fragment_fts MATCH :match AND rowid > (SELECT begins FROM newest)),
    (SELECT size FROM newest)
