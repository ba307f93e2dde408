"""Where the two runtimes of a process meet: who publishes an index, and who reads it."""
