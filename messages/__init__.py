"""What travels between actors: commands, responses, plans, rows; how it is encoded; and pure decisions over it.

Immutable values. Import from the modules: ``commands``, ``responses``, ``dataflows``, ``relations``, ``scalars``, …
"""
