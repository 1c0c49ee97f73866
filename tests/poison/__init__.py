"""What becomes of each exception that can leave a step."""
