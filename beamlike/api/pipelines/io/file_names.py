"""The names of the files that `WriteToFiles` writes.

Source: Beam Python ``io.fileio``.
"""

from collections.abc import Callable
from typing import Any

from beamlike.api.pipelines.python.windows import GlobalWindow
from beamlike.errors import PipelineError

__all__ = [
    "FileNaming",
    "default_file_naming",
    "destination_prefix_naming",
    "prefix_naming",
    "single_file_naming",
]

FileNaming = Callable[[Any, Any, int, int, Any, Any], str]
"""The name of a file by its window and pane, its number and how many there are, its compression and
its destination."""


def _name(
    prefix: str,
    suffix: str | None,
    window: Any,
    pane: Any,
    numbers: tuple[int | None, int | None],
    compression: Any,
) -> str:
    parts = [prefix]
    if window is not None and not isinstance(window, GlobalWindow):
        parts += [it.to_utc_datetime().isoformat() for it in (window.start, window.end)]
    if pane is not None and pane.index:  # so that a later pane does not replace an earlier one
        parts.append(f"pane-{pane.index}")
    shard, shards = numbers
    if shard is not None and shards is not None:
        parts.append(f"{shard:05d}-of-{shards:05d}")
    return f"{'-'.join(parts)}{suffix or ''}{f'.{compression}' if compression else ''}"


def default_file_naming(prefix: str, suffix: str | None = None) -> FileNaming:
    """``prefix-start-end-00000-of-00001suffix``, without the window if it is the global one.

    What follows the first pane of a window has ``-pane-1`` and so on after the window.

    >>> default_file_naming("out", ".txt")(GlobalWindow(), None, 0, 2, "", None)
    'out-00000-of-00002.txt'

    Source: Beam ``default_file_naming``.
    """

    def name(
        window: Any, pane: Any, shard_index: Any, total_shards: Any, compression: Any, to: Any
    ) -> str:
        return _name(prefix, suffix, window, pane, (shard_index, total_shards), compression)

    return name


def prefix_naming(prefix: str) -> FileNaming:
    """`default_file_naming` without a suffix. Source: Beam ``prefix_naming``."""
    return default_file_naming(prefix)


def destination_prefix_naming(suffix: str | None = None) -> FileNaming:
    """`default_file_naming` with the destination as prefix.

    Source: Beam ``destination_prefix_naming``.
    """

    def name(
        window: Any, pane: Any, shard_index: Any, total_shards: Any, compression: Any, to: Any
    ) -> str:
        return _name(str(to), suffix, window, pane, (shard_index, total_shards), compression)

    return name


def single_file_naming(prefix: str, suffix: str | None = None) -> FileNaming:
    """`default_file_naming` without numbers, for one file.

    Source: Beam ``single_file_naming``.
    """

    def name(
        window: Any, pane: Any, shard_index: Any, total_shards: Any, compression: Any, to: Any
    ) -> str:
        if total_shards not in (None, 1):
            raise PipelineError(
                f"single_file_naming names one file, and there are {total_shards}; write "
                "shards=1, or file_naming=default_file_naming(...)"
            )
        return _name(prefix, suffix, window, pane, (None, None), compression)

    return name
