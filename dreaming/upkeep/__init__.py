"""Keeping a workspace sound: check-ups and their repairs, backups and bringing them back."""
