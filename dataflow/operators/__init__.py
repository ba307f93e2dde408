"""Operators: from chunks of changes to chunks of changes."""
