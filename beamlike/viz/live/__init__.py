"""A running query, live, on a small local page.

Read in this order: `progress` (one micro-batch, out of what Spark reports), `history` (the last of
them, and what they add up to), `listening` (where Spark tells it), `server` (who may ask for it),
`view` (all of it together). The page itself is `page.html`, `page.css` and `page.js`.
"""

from beamlike.viz.live.view import LiveView, live_view

__all__ = ["LiveView", "live_view"]
