"""What queries are doing and what they have saved, for people.

Nothing here runs a query. Read in this order: `queries` (what running queries report, and what that
adds up to), `http` (the server that answers on a port of this machine), `metrics` (lines, log lines
and OpenMetrics), `live` (a page in a browser), `state` (the checkpoint of a query), `opening` (of
that, `beamlike.open_state`), `cost` (a model of what a micro-batch takes).
"""
