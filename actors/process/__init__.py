"""What a process has once, whatever number of systems and runtimes run in it, and what the system lets them set."""
