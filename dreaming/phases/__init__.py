"""The three phases of a night; each module decides, none of them opens a file or the store."""
