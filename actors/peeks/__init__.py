"""Answering peeks: pure functions from arranged rows to one result."""
