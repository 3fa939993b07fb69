-- When was each promotion that stands last asked for, by the votes for what was written?
SELECT promotion.fragment, promotion.statements, max(signal.at)
FROM promotion
JOIN promoted_statement ON promoted_statement.promotion = promotion.id
LEFT JOIN signal ON signal.statement = promoted_statement.statement
WHERE promotion.state IN ('planned', 'in force')
GROUP BY promotion.id
