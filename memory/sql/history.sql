-- How often did light stage each wanted fragment and REM choose it, and when last?
SELECT
    fragment,
    sum(mark = 'staged'),
    max(CASE WHEN mark = 'staged' THEN at END),
    sum(mark = 'chosen'),
    max(CASE WHEN mark = 'chosen' THEN at END)
FROM phase_signal
WHERE fragment IN (SELECT value FROM json_each(:ids)) AND night <= :until
GROUP BY fragment
