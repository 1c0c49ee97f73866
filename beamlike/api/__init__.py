"""What users call. Everything here stands on the hosts and decides nothing about panes."""
