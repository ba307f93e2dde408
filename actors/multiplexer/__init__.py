"""The controller endpoint of a process: broadcasts commands, merges the workers' answers."""
