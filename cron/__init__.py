"""When nights happen."""
