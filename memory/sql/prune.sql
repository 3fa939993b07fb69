-- Forgets fragments that stand nowhere since before :before and were neither recalled nor promoted.
DELETE FROM fragment
WHERE gone_at < :before
  AND NOT EXISTS (SELECT 1 FROM promotion WHERE promotion.fragment = fragment.id)
  AND NOT EXISTS (
    SELECT 1 FROM statement JOIN signal ON signal.statement = statement.id WHERE statement.fragment = fragment.key
  )
