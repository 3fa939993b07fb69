-- Which pictures of files are needed by no change, nor by a picture that is?
WITH RECURSIVE needed (digest) AS (
    SELECT before FROM change WHERE before IS NOT NULL
    UNION
    SELECT after FROM change WHERE after IS NOT NULL
    UNION
    SELECT image.base FROM needed JOIN image ON image.digest = needed.digest WHERE image.base IS NOT NULL
)
SELECT digest FROM image WHERE digest NOT IN (SELECT digest FROM needed) ORDER BY digest
