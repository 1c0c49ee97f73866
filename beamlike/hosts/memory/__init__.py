"""The reference machine in this process: it explains each pane, and needs attrs and nothing else.

Scripts of one grouping are played by `beamlike.runtime.memory`, and a graph node by node by
`pipeline`; `outputs` is what that leaves behind.
"""
