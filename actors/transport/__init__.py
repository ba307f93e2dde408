"""Between a system and a replica in another process: authenticated connections, frames, and what travels in them."""
