"""The engine: incremental computation over columns. Pure: no actors, threads, clocks or input and output."""
