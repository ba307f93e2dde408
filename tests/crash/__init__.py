"""What a killed process leaves behind: ``python -m tests.crash --rounds 300``."""
