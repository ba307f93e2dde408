"""What an application may ask of a system, all of it at once, and what may happen meanwhile."""
