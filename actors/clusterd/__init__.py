"""``pillion clusterd``: a replica as a process of its own."""
