"""Laws that a user's own window functions and combine functions must keep.

Read in this order: `window_fn_cases`, `window_fn_rules` and `window_fn` (of window functions),
`combine_fn` (of combine functions).
"""
