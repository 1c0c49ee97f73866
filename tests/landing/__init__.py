"""Results that land in tables, and that each lands once, however often a query is killed.

``python -m tests.landing`` runs the long trials, and keeps their last results in ``LATEST.md``.
"""
