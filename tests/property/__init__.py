"""Properties that hold for random plans and histories."""
