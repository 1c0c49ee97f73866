"""Pictures of what happened: `table` and `timeline` as text, `picture` as an image.

Nothing is imported here: only the image needs matplotlib, and only when it is drawn.
"""
