"""The playground: a stream, its watermark and its windowing to drag about, in a browser.

Read in this order: `sketches` (what is on the page, as plain values, and strategies in the words of
other systems), `answers` (what comes of it, and its ways out: a scenario file, a test), `packages`
(what npm fetches, checked and kept: the Python that a browser runs), `folder` (all of it as static
files), `server` (which hands them out on this machine), `frame` (all
of it in a notebook).

What answers runs in the browser, so all that it imports needs attrs and nothing else.
"""

from beamlike.playground.frame import PlaygroundFrame, show

__all__ = ["PlaygroundFrame", "show"]
