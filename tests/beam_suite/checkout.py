"""The programs of a checkout of Beam's repository: the katas and the Tour of Beam.

The wheel of Beam does not have them: ``--checkout FOLDER`` says where they are. Each runs in a copy
of its folder. What they read from Google's storage is replaced by short files, so that they need no
network.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.beam_suite.programs import INPUTS

_ROOTS: Final = ("learning/katas/python", "learning/tour-of-beam/learning-content")
_NEED_MORE: Final = re.compile(
    # Services, and transforms that run in Java.
    r"BigQuery|bootstrap|import requests|SqlTransform|expansion|python-challenge"
)

_PLAY: Final = (
    "KING LEAR\n\nACT I\n\nKENT\tI thought the king had more affected the Duke of\n"
    "\tAlbany than Cornwall.\n\nGLOUCESTER\tIt did always seem so to us: but now, in the\n"
    "\tdivision of the kingdom, it appears not which of\n\tthe dukes he values most; for\n"
    "\tequalities are so weighed, that curiosity in neither\n\tcan make choice of either.\n"
    "\nKING LEAR\tMeantime we shall express our darker purpose.\n\tGive me the map there. Know\n"
    "\tI loved her most; good and abundant, strong and best.\n\tabandon abuse bad loss wrong\n"
)
_RIDES: Final = "".join(
    f"{n % 2 + 1},2020-01-{n % 9 + 1:02} 00:1{n % 6}:00,2020-01-{n % 9 + 1:02} 00:2{n % 6}:00,"
    f"{n % 4},{n}.5,1,N,{n + 100},{n + 200},{n % 3},{n}.0,0.5,0.5,1.0,0,0.3,{3 * n}.25,2.5\n"
    for n in range(1, 40)
)

SAMPLES: Final[Mapping[str, str]] = {
    "gs://apache-beam-samples/game/small/gaming_data.csv": INPUTS["scores.csv"],
    "gs://apache-beam-samples/shakespeare/kinglear.txt": _PLAY,
    "gs://dataflow-samples/shakespeare/kinglear.txt": _PLAY,
    "gs://mybucket/myfile.txt": "",
    "gs://apache-beam-samples/nyc_taxi/misc/sample1000.csv": _RIDES,
}
"""What stands for a file of Google's storage."""


def learning(checkout: Path) -> Iterator[dict[str, Any]]:
    """The programs that need no service and no Java."""
    for root in _ROOTS:
        for path in sorted(checkout.joinpath(root).rglob("*.py")):
            name = path.relative_to(checkout / "learning").as_posix()
            text = path.read_text(encoding="utf-8")
            named = set(re.findall(r"gs://[\w./*-]+", text))
            if (
                "beam.Pipeline(" in text
                and "/tests/" not in name
                and not _NEED_MORE.search(f"{name} {text}")
                and named <= SAMPLES.keys()
            ):
                unit = {"unit": f"learning/{name}", "kind": "programs", "limit": 60, "whole": 90}
                samples = {it: SAMPLES[it] for it in named}
                yield unit | {"file": str(path), "folder": str(path.parent), "samples": samples}


def checkout_version(checkout: Path) -> str:
    """The version of Beam that a checkout says it is of; empty if it does not say."""
    file = checkout / "sdks" / "python" / "apache_beam" / "version.py"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    found = re.search(r"__version__ = '([^']+)'", text)
    return found[1] if found else ""
