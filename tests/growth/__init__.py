"""How time and memory of a micro-batch grow: ``python -m tests.growth``.

`axes` has what grows, `cores` the same work on one and two cores and on a cluster, `report` the
table and the picture.
"""
