"""``python -m beamlike_conformance``, as the command ``beamlike-conformance``."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
