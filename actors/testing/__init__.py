"""Testing actors: one actor in isolation, its neighbours replaced by probes, on a simulated or a threaded system."""
