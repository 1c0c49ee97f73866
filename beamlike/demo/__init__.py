"""The main job: a year of real departures, streamed, windowed, checked and drawn.

Read in this order: `flights` (the input), `pace` (how it arrives), `job` (the query), `screen`
(what is shown while it runs), `results` (what it wrote, as values), `check` (the proof that nothing
was lost), `report` (what a person wants to know), `story` (which hour to draw).
"""
