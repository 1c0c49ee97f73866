"""A shard's saved state.

Read in this order: `blobs` (tables as bytes), `stores` (where they are stored, and copies of them),
`state` (the layout of saved state), `column_state` (the same from columns), `room` (how much a
shard can hold), `order` (rows in an order of their own), `pages` (what a step reads and writes),
`index` (what is known without reading it), `key_clocks` (keys that have watermarks of their own),
`recording` (what reached the shard, beside it).
"""
