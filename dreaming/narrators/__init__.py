"""Who can write the entries of the dream diary, and what becomes of what they write."""

NARRATING = "NIGHTLY_DREAMING_NARRATES"
"""Set in the environment of an agent that writes an entry, so that its hooks stay silent."""
