"""The user's Markdown: diaries that are only read, and this program's own blocks in DREAMS.md and MEMORY.md."""
