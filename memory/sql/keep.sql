-- Keeps a fragment that is not known yet.
INSERT OR IGNORE INTO fragment (id, heading, text, style, origin, language, tags, flaws, search_text)
VALUES (:id, :heading, :text, :style, :origin, :language, :tags, :flaws, :search_text)
