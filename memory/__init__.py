"""What is remembered: fragments, recalls, evidence, promotions, in one SQLite file per workspace."""
