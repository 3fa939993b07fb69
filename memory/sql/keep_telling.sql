-- Keeps what a phase has to tell of a night and how that went.
INSERT INTO telling (night, phase, stamp, asked, material, fragments, refused, prompt_tokens, answer_tokens)
VALUES (:night, :phase, :stamp, :asked, :material, :fragments, :refused, :prompt_tokens, :answer_tokens)
ON CONFLICT (night, phase) DO UPDATE
SET stamp = excluded.stamp,
    asked = excluded.asked,
    material = excluded.material,
    fragments = excluded.fragments,
    refused = excluded.refused,
    prompt_tokens = excluded.prompt_tokens,
    answer_tokens = excluded.answer_tokens
