"""Who can write the entries of the dream diary, and what becomes of what they write."""
