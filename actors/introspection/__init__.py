"""Relations about the replica itself, readable like any index."""
