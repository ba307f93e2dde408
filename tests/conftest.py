"""What all tests share: protocol scripts are tests, and no test has a deadline (a busy machine is no fault)."""

from hypothesis import HealthCheck, settings

pytest_plugins = ("pillion.actors.testing.spec_files",)

settings.register_profile("pillion", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pillion")
