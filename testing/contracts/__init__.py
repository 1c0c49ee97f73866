"""Laws that a user's own window functions, combine functions and triggers must keep.

Read in this order: `values` (how they are asked, and those of all that saved state depends on),
`window_fn` (of window functions), `combine_fn` (of combine functions) and
`trigger` (of triggers).
"""
