-- Counts one vote; the same statement, kind, query and day is one row with its best score and latest time.
INSERT INTO signal (statement, kind, query_hash, day, score, surface, at)
VALUES (:statement, :kind, :query_hash, :day, :score, :surface, :at)
ON CONFLICT (statement, kind, query_hash, day) DO UPDATE
SET score = max(score, excluded.score), at = max(at, excluded.at)
WHERE excluded.score > score OR excluded.at > at
