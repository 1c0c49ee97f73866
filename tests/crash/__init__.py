"""A query that is killed again and again, and must not lose or double a pane: see ``__main__``.

Read in this order: `feed` (what arrives), `sinks` (where it goes), `works` (the queries), `child`
(the process that is killed, which runs them), `daemon` (where its workers come from), `faults`
(what goes wrong without a kill), `processes` (all that a child has started), `moments` (when it is
killed), `killing` (until the input is done), `outputs` (what came out, and what differs).
"""
