"""A shard's saved state.

Read in this order: `blobs` (tables as bytes, and how much a shard can hold), `narrow` (numbers in
few bytes), `stores` (where they are stored, and copies of them), `state` (the layout of saved
state), `column_state` (the layout in columns, with keys as numbers), `pages` (what a step reads and
writes, in which order), `index` (what is known without reading it), `key_clocks` (keys that have
watermarks of their own), `recording` (what reached the shard, beside it).
"""
