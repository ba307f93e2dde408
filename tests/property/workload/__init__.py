"""A random workload over whole systems in a simulation; every answer is compared with the oracle."""
