"""Protocol scripts: a text format that drives one replica directly through the compute protocol."""
