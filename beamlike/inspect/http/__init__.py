"""A server for this machine, which the metrics, the live view and the playground share.

Read in this order: `allowed` (which hosts a request may name), `answering` (one request), `serving`
(what listens on a port).
"""
