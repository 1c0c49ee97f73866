"""Python for the hosts of a cluster, as an archive: the recipe of ``docs/pages/operating.md``.

A virtual environment with beamlike and what it needs, packed by venv-pack. PySpark is not in it:
Spark brings it along. A host needs the Python that the environment was made of, and nothing else.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from tests.compatibility.environments import wheel
from tests.compatibility.steps import checkout
from tests.support.environments import (
    BESIDE_PYSPARK,
    Requirement,
    cached_environment,
    environment,
    run,
)

ROOT: Final = Path(__file__).resolve().parents[2]
_NEEDED: Final = [Requirement(*pair) for pair in BESIDE_PYSPARK if pair[0] != "pytest"]
_ON_CONNECT: Final = [
    Requirement("grpcio", "1.85.3"),
    Requirement("grpcio-status", "1.85.3"),
    Requirement("googleapis-common-protos", "1.76.0"),
    Requirement("zstandard", "0.25.0"),
]
_PACKER: Final = [Requirement("venv-pack", "0.2.0"), Requirement("setuptools", "80.9.0")]


@attrs.frozen
class Packed:
    """What the hosts get.

    Attributes:
        archive: The environment with beamlike, packed.
        unpacked: The folder of that environment, unpacked, for the driver.
        plain: A Python that has all that beamlike needs, and not beamlike.
        wheel: beamlike alone, for ``--py-files``.
    """

    archive: Path
    unpacked: Path
    plain: Path
    wheel: Path


def packed(cache: Path) -> Packed:
    """The environment of this checkout, made if it is not in the cache."""
    plain = cached_environment("cluster", [*_NEEDED, *_ON_CONNECT, *_PACKER], cache)
    home = cache / "cluster" / f"packed-{_digest(sorted((ROOT / 'beamlike').rglob('*.py')))}"
    packed_files = Packed(
        home / "environment.tar.gz", home / "unpacked", plain, home / "beamlike.zip"
    )
    if not (home / "complete").exists():
        for old in home.parent.glob("packed-*"):
            shutil.rmtree(old)
        home.mkdir()
        _pack(packed_files, home)
        (home / "complete").touch()
    return packed_files


def _pack(packed_files: Packed, home: Path) -> None:
    source = checkout(ROOT, home / "checkout")
    wheel(packed_files.plain, source, home, home)
    # The environment that is packed: that of the cache stays without beamlike.
    full = home / "full"
    pip = [environment(full, [*_NEEDED, *_ON_CONNECT]), "-m", "pip", "install", "--quiet"]
    run([*pip, "--no-deps", source], "pip for beamlike", 300)
    packer = [packed_files.plain, "-m", "venv_pack"]
    run(
        [*packer, "-p", full, "-o", packed_files.archive, "--compress-level", "1"], "venv-pack", 600
    )
    packed_files.unpacked.mkdir()
    subprocess.run(["tar", "-xzf", packed_files.archive, "-C", packed_files.unpacked], check=True)
    for rest in (full, source):
        shutil.rmtree(rest)


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256(repr(_NEEDED).encode())
    for path in paths:
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
