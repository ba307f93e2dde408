"""Whole systems in a simulation: a random workload in a random order, with faults, and an oracle that knows better."""
