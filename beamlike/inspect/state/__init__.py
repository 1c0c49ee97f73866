"""Saved state for people: the checkpoint of a query, read and shown in columns.

Nothing here runs what the state holds. It is Arrow tables and JSON; values that are saved as
pickles stay bytes unless `unpickle` is set. The states and timers of functions are read all the
same: of what a pickle names only plain values are made.

Read in this order: `trigger` (what a window's trigger waits for), `keys` (keys as texts, bytes of
rows), `function_state` (what windows hold, the states and timers of functions among them, without
the code that pickles name), `shard` (the blobs of one shard, see `beamlike.runtime.store.state`),
`stage` (all shards of a grouping, its windows as one table), `checkpoint` (which groupings a
checkpoint has, and their blobs), `report` (all of it, and what holds it back), `choice` (some of
it).

The windows, one row for each window of each key that is remembered:

================  ====================  ======================================================
column            type                  holds
================  ====================  ======================================================
stage             string                the grouping, by its name
operator          int32                 its number among Spark's stateful operators
shard             int32                 the shard, from 0
key               string                the key as text; the parts of several columns with
                                        ``, `` between them
key_...           the key's types       the key columns; a pipeline's is the key's own bytes
start, end        timestamp             the window, end exclusive; null: the global window
closed            bool                  its trigger has finished; it only waits to be forgotten
new_elements      int64                 elements since its last pane
size              int64                 elements since it opened; null: it is not counted
timing            string                its last pane; null: there was none
index             int64                 the index of that pane
nonspeculative    int64                 its index among the panes that are not early
standing          int64                 panes not withdrawn yet; null: nothing is withdrawn
hold              timestamp             where its elements hold the output watermark back; null:
                                        they do not
due_event         timestamp             it changes by itself once the watermark reaches this;
                                        null: not before the end of time, or it is unknown
due_clock         timestamp             it changes by itself once the clock is past this
bytes             int64                 its row in memory, key and accumulator included
finished          int64                 bits of its trigger's nodes, root lowest, parents first
values            list of int64         count or clock target (ms) of each node that has one
the accumulator   see `columns`         what it holds; ``..._pickled`` are bytes
================  ====================  ======================================================

Timestamps are in UTC, in milliseconds, also where the query counts microseconds. A table of several
groupings has neither the key's columns nor accumulators, which may differ between them."""

from beamlike.extras import needs

needs("reading saved state", "spark")
