"""The main job: a year of real departures, streamed, windowed, checked and drawn.

Read in this order: `flights` (the input, and how it arrives), `job` (the query), `results` (what it
wrote, as values), `check` (the proof that nothing was lost), `report` (what a person wants to know,
while it runs and at the end), `story` (which hour to draw).
"""
