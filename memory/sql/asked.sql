-- How much was asked on each day, by different questions, and how many statements answered?
SELECT day, count(DISTINCT query_hash), count(*)
FROM signal
WHERE kind = 'recall' AND day >= :since AND day <= :until
GROUP BY day
ORDER BY day
