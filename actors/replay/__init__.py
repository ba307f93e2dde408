"""Replaying a recorded system: its commands and data again, in a fresh storage and replica, every answer compared."""
