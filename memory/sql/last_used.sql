-- When was each promotion last asked for, by the votes for what was written?
SELECT promotion.fragment, promotion.statements, max(signal.at)
FROM promotion
JOIN promoted_statement ON promoted_statement.promotion = promotion.id
LEFT JOIN signal ON signal.statement = promoted_statement.statement
GROUP BY promotion.id
