"""Large and long: what a query holds on to, see ``python -m tests.endurance``."""
