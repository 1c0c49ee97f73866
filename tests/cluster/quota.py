"""A part of a core for each host, so that more hosts have more cores on a machine that has two."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.environments import NotHere

_GROUPS: Final = Path("/sys/fs/cgroup")
_PERIOD: Final = 100_000


@contextmanager
def quotas(hosts: Sequence[str], cores: float) -> Iterator[Mapping[str, Path]]:
    """The control group of each host, until the end of the block."""
    first = _GROUPS / "cpu"
    is_first = first.is_dir()
    parent = first if is_first else _GROUPS
    groups = {host: parent / f"beamlike-{os.getpid()}-{host}" for host in hosts}
    created: list[Path] = []
    try:
        for group in groups.values():
            try:
                group.mkdir()
                created.append(group)
                limit = int(_PERIOD * cores)
                if is_first:
                    (group / "cpu.cfs_quota_us").write_text(str(limit))
                else:
                    (group / "cpu.max").write_text(f"{limit} {_PERIOD}")
            except OSError as failure:
                raise NotHere(f"control groups are not allowed: {failure}") from None
        yield groups
    finally:
        for group in created:
            group.rmdir()


def limited_to(group: Path, command: Sequence[str | Path]) -> list[str]:
    """A command as it runs within a control group."""
    script = 'echo $$ > "$0" && exec "$@"'
    return ["sh", "-c", script, str(group / "cgroup.procs"), *map(str, command)]
