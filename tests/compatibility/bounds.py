"""The lower bounds of `setup.cfg` for pip: ``python -m tests.compatibility.bounds`` prints them."""

import configparser
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
EXTRAS: Final = ("local", "spark", "png", "demo", "metrics", "sketches", "test")
"""Extras whose bounds are tried. What only checks or shows code is left as it comes."""
_TOOLS: Final = frozenset(("ipykernel", "mypy", "nbclient", "nbformat", "playwright", "ruff"))
_BOUND: Final = re.compile(r"([\w.-]+)\s*(?:>=|==)\s*([\w.]+)")


def constraints() -> Iterator[str]:
    """Each requirement at its lower bound, as ``name==version``."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = [config["options"]["install_requires"]]
    lines += [config["options.extras_require"][extra] for extra in EXTRAS]
    for line in "\n".join(lines).split("\n"):
        if not line.strip() or line.startswith("%("):
            continue
        bound = _BOUND.match(line)
        if bound is None:
            raise ValueError(f"{line!r} of setup.cfg has no lower bound; add >= and a version")
        if bound[1] not in _TOOLS:
            yield f"{bound[1]}=={bound[2]}"


if __name__ == "__main__":
    print(*constraints(), sep="\n")
