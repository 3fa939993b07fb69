-- In how many fragments does a word stand, counted up to :limit, in how many of the :newest, and how many are those?
-- And do several of them stand in notes? An older wording of a line, or a talk about it, makes no word a shared one.
WITH newest (key) AS MATERIALIZED (SELECT key FROM fragment ORDER BY key DESC LIMIT :newest)
SELECT
    (SELECT count(*) FROM (SELECT 1 FROM fragment_fts WHERE fragment_fts MATCH :match LIMIT :limit)),
    (SELECT count(*) FROM fragment_fts WHERE fragment_fts MATCH :match AND rowid >= (SELECT min(key) FROM newest)),
    (SELECT count(*) FROM newest),
    (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM fragment_fts
            WHERE fragment_fts MATCH :match
              AND EXISTS (SELECT 1 FROM sighting WHERE sighting.fragment = fragment_fts.rowid AND kind <> 'session')
            LIMIT 2
        )
    ) > 1
