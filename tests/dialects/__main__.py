"""The dialects against small models of their systems, on many random streams.

The tests do the same on a few hundred streams each. What came of the last long run is in README.md
beside this.
"""

import runpy
import sys
from pathlib import Path

from tests.support.commands import command_parser

MODELS = sorted(Path(__file__).parent.glob("test_*_against_a_model.py"))


def main() -> None:
    """Run each model's script, one after the other; the first difference ends it."""
    names = [path.stem.removeprefix("test_").removesuffix("_against_a_model") for path in MODELS]
    parser = command_parser("tests.dialects", __doc__)
    parser.add_argument("--streams", type=int, default=4000, help="of each dialect (4000)")
    parser.add_argument("--dialect", choices=names, help="only this one")
    given = parser.parse_args()
    for name, path in zip(names, MODELS, strict=True):
        if given.dialect in (None, name):
            print(f"{name}:")
            sys.argv = [str(path), str(given.streams)]
            runpy.run_path(str(path), run_name="__main__")


if __name__ == "__main__":
    main()
