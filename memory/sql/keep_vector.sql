-- Keeps the vectors of a fragment (all of it first, then its statements) in place of those of another model.
INSERT INTO vector (fragment, model, dimension, value)
SELECT key, :model, :dimension, :value FROM fragment WHERE key = :fragment AND text = :text
ON CONFLICT (fragment) DO UPDATE
SET model = excluded.model, dimension = excluded.dimension, value = excluded.value
