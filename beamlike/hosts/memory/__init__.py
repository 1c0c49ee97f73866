"""The reference machine in this process: it explains each pane, and needs attrs and nothing else.

Scripts of one grouping are played by `beamlike.runtime.memory`. Read in this order: `live` (a
grouping whose processing time is real), `pipeline` (a graph, node by node).
"""
