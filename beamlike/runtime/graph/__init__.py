"""Whole pipelines of Python functions, as nodes that any host can step.

Read in this order: `wire` (values as bytes), `main_program` (classes of ``__main__`` elsewhere),
`keys` (keys as bytes), `metrics` (what users' functions count), `worker` (the methods of a node,
and users' functions), `side_inputs` (those that look into side inputs), `known_sides` (and into
such as are known before), `stateful` (nodes that keep state by key), `machine_node` (any machine as
one), `nodes` (the others, and which is which). Scripts: `source_steps` (of all sources, as steps of
a graph), `scripted_graph` (one script for one stage, as a graph), `outputs` (what came out of a
graph). In shards: `arrow_values` (elements as columns), `keyed_tables` (elements by key, as tables,
and what panes become), `tracing` (what happens inside of groupings), `stage` (a node on a shard),
`side_contents` and `side_shards` (one with side inputs). As a chain of operators: `sending`
(functions as bytes), `mail` (what travels), `layers` (how a graph is cut), `early` (elements
combined before they reach their shard), `between` (from a layer to the next), `layer_work` (the
nodes with state of one depth).
"""
