"""Every change of a file of the user's: made, told, and taken back."""
