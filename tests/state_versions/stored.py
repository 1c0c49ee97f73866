"""A checkpoint as one small file, wherever it was made and wherever it goes on."""

import tarfile
from pathlib import Path
from typing import Final

from beamlike.runtime.plan import LAYOUT_VERSION

FOLDER: Final = Path(__file__).parent
_SUFFIX: Final = ".tar.xz"
_ANYWHERE: Final = "/home-of-the-query/"
_WITH_PATHS: Final = ("sources/*/*", "state/*/_metadata/*/*")


def layouts() -> list[tuple[int, str]]:
    """The layout and the work of each checkpoint that is kept."""
    found = [path.name.removesuffix(_SUFFIX) for path in FOLDER.glob(f"layout*{_SUFFIX}")]
    parts = [name.removeprefix("layout").split("-") for name in sorted(found)]
    return [(int(layout), work) for layout, work in parts]


def pack(home: Path, work: str) -> Path:
    """Keep the checkpoint in this folder as that of a work; the file.

    Checksums go: they are of no use in another file system, and paths change below.
    """
    checkpoint = home / "checkpoint"
    for checksum in checkpoint.rglob(".*.crc"):
        checksum.unlink()
    rewrite(checkpoint, f"{home}/", _ANYWHERE)
    file = FOLDER / f"layout{LAYOUT_VERSION}-{work}{_SUFFIX}"
    with tarfile.open(file, "w:xz") as archive:
        archive.add(checkpoint, "checkpoint", filter=_of_nobody)
    return file


def unpack(layout: int, work: str, home: Path) -> Path:
    """Put a checkpoint into this folder, as if its query had always been there; its own."""
    with tarfile.open(FOLDER / f"layout{layout}-{work}{_SUFFIX}") as archive:
        archive.extractall(home, filter="data")
    checkpoint = home / "checkpoint"
    rewrite(checkpoint, _ANYWHERE, f"{home}/")
    return checkpoint


def rewrite(checkpoint: Path, old: str, new: str) -> None:
    """Spark notes where the files are that the query has read, and where the checkpoint is."""
    for pattern in _WITH_PATHS:
        for noted in checkpoint.rglob(pattern):
            if noted.is_file():
                noted.write_text(noted.read_text().replace(old, new))


def _of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry
