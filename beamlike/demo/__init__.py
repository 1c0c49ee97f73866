"""The main job: a year of real departures, streamed, windowed, checked and drawn.

Read in this order: `flights` (the input), `pace` (how it arrives), `job` (the query), `check`
(the proof that nothing was lost), `report` (what a person wants to know), `story` (the picture).
"""
