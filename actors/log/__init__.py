"""Message logs: the file, what is in its rows, and reading it back."""
