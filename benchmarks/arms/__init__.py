"""One module per system that is measured. Functions are workloads; see :mod:`benchmarks.child`."""
