"""Measurements at the size the store must carry: ten years of diaries."""
