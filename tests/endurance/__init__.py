"""Large and long: what a query holds, and what it holds on to, see ``python -m tests.endurance``."""
