"""A second opinion: relational expressions over plain Python multisets, short enough to be obviously right."""
