-- When was each promoted fragment last asked for, by the votes for what was written of it?
SELECT promotion.fragment, max(signal.at)
FROM promotion
JOIN promoted_statement ON promoted_statement.promotion = promotion.id
LEFT JOIN signal ON signal.statement = promoted_statement.statement
GROUP BY promotion.fragment
