"""A shard's saved state.

Read in this order: `blobs` (tables as bytes, and a store of them in memory), `state` (the layout of
saved state), `column_state` (the same from columns), `room` (how much a shard can hold), `pages`
(where state is stored, and what a step writes of it), `index` (what is known without reading it),
`key_clocks` (keys that have watermarks of their own), `recording` (what reached the shard, beside
it).
"""
