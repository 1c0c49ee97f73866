"""The package as it is installed, for the API reference to be read from.

`beamlike.testing` lies beside the package in a checkout, and `setup.cfg` alone maps it in. A folder
of links has both in one tree, so that the reference is made of this checkout and imports nothing.
"""

import tempfile
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

ROOT = Path(__file__).resolve().parents[2]
_TREE = tempfile.TemporaryDirectory(prefix="beamlike-docs-")


@event_priority(100)  # before the plugin that reads the paths
def on_config(config: Any) -> Any:
    package = Path(_TREE.name, "beamlike")
    package.mkdir(exist_ok=True)
    parts = {path.name: path for path in (ROOT / "beamlike").iterdir()}
    for name, path in {**parts, "testing": ROOT / "testing"}.items():
        if not (package / name).exists():
            (package / name).symlink_to(path)
    handlers = config.plugins["mkdocstrings"].config.handlers
    handlers.setdefault("python", {})["paths"] = [_TREE.name]
    return config
