"""Test streams: elements, watermarks and clocks step by step, and what comes out.

Read in this order: `finished` (a test stream that can be run), `stream` (the verbs that make one),
`watermark_rules` (what moves the watermark where arrivals are known), `by_clock` (one of elements
with both of their times, also from DataFrames), `as_code` (a run as a test stream to be pasted),
`changes` (a run as the changes of a table), `embedding` (a page in a notebook), `results`,
`comparing` (several strategies).
"""
