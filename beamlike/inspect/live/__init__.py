"""A running query, live, on a small local page.

What Spark reports is read by `beamlike.inspect.queries`. Read in this order: `history` (the last
micro-batches, and what they add up to), `server` (who may ask for it), `view` (all of it together).
The page itself is `page.html`, `page.css` and `page.js`.
"""

from beamlike.inspect.live.view import LiveView, live_view

__all__ = ["LiveView", "live_view"]
