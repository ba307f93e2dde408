"""Measurements side by side with other systems: ``python -m benchmarks``. The rules are in docs/performance.md."""
