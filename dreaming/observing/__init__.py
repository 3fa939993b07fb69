"""What is read into the store: diaries and conversations, without their secrets."""
