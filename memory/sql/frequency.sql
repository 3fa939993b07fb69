-- In how many fragments does a word stand, counted up to :limit?
SELECT count(*) FROM (SELECT 1 FROM fragment_fts WHERE fragment_fts MATCH :match LIMIT :limit)
