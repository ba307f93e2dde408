"""What all tests share: protocol scripts are tests."""

pytest_plugins = ("pillion.actors.testing.spec_files",)
