"""``python -m beamlike.cli``."""

import sys

from beamlike.cli import main

if __name__ == "__main__":
    sys.exit(main())
