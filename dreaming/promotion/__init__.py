"""From a candidate that passed every gate to its line in `MEMORY.md`, and how that stands."""
