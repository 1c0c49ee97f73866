"""How all figures look: pictures, the stepping page, the live page and the playground.

`colours` has both palettes, and how the panes of each timing look; `pages` has them for browsers.
"""
