"""What users call. Everything here stands on the hosts and decides nothing about panes.

`windowed` is all there is so far: DataFrame in, DataFrame of panes out.
"""
