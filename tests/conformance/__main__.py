"""The conformance suite against any engine: ``python -m tests.conformance RESULTS.json``."""

import sys
from pathlib import Path

from tests.support.conformance import main

if __name__ == "__main__":
    sys.exit(main(cases=Path(__file__).parent / "cases"))
