"""The conformance suite against any engine: ``python -m tests.conformance RESULTS.json``."""

import sys

from tests.conformance.beamlike_conformance.command import main

if __name__ == "__main__":
    sys.exit(main(["compare", *sys.argv[1:]]))
