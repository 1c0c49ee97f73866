"""How many random examples a law is tried on."""

import os
from typing import Final

AT_NIGHT: Final = "BEAMLIKE_AT_NIGHT"
"""The variable that says that the long trials run too. ``--nightly`` sets it."""

EXAMPLES: Final = "BEAMLIKE_EXAMPLES"
"""The variable that says how many examples each law is tried on, whatever is said here."""


ONE_OF: Final = 5
"""Of so many examples, or other samples, one is tried for each change."""


def examples(at_night: int) -> int:
    """So many at night, and a fifth of them for each change.

    ``BEAMLIKE_EXAMPLES=20000 python -m pytest tests/laws`` looks further, for some minutes.
    """
    if (wanted := os.environ.get(EXAMPLES)) is not None:
        return int(wanted)
    return at_night if AT_NIGHT in os.environ else -(-at_night // ONE_OF)
