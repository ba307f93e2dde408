"""The ``pillion`` command: one module per subcommand. What a subcommand needs is imported when it runs."""
