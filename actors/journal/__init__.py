"""The journal: what makes tables, views and indexes survive the process."""
