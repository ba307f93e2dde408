"""Executing actors: on threads, or one at a time in a seeded simulation."""
