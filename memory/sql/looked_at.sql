-- What did REM look at on each night, and with which tags?
SELECT phase_signal.night, phase_signal.fragment, fragment.tags
FROM phase_signal JOIN fragment ON fragment.id = phase_signal.fragment
WHERE phase_signal.mark = 'considered' AND phase_signal.night >= :since AND phase_signal.night <= :until
ORDER BY phase_signal.night, phase_signal.fragment
