-- Keeps a fragment that is not known yet; of a known one only what is judged of its text may have changed.
INSERT INTO fragment (id, heading, text, style, origin, language, tags, flaws, search_text)
VALUES (:id, :heading, :text, :style, :origin, :language, :tags, :flaws, :search_text)
ON CONFLICT (id) DO UPDATE SET flaws = excluded.flaws
WHERE flaws <> excluded.flaws
