-- What had the phases of a night to tell, and how did that go?
SELECT night, phase, stamp, asked, material, fragments, refused, prompt_tokens, answer_tokens
FROM telling
WHERE night = :night
ORDER BY CASE phase WHEN 'light' THEN 1 WHEN 'rem' THEN 2 ELSE 3 END
