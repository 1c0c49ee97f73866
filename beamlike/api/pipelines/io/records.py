"""How text is cut into records: at a delimiter, which may be escaped."""

from collections.abc import Iterable, Iterator
from typing import IO

from beamlike.errors import PipelineError

_PART = 1 << 16


def check_delimiter(delimiter: object) -> None:
    """Refuse what does not separate records.

    Raises:
        PipelineError: With what to write.
    """
    if delimiter is None:
        return
    if not isinstance(delimiter, bytes) or not delimiter:
        raise PipelineError(
            f'Delimiter must be a non-empty bytes sequence, got {delimiter!r}; write b";"'
        )
    if any(delimiter[:at] == delimiter[-at:] for at in range(1, len(delimiter))):
        raise PipelineError(
            f"Delimiter must not self-overlap, got {delimiter!r}; where one ends another could "
            "begin"
        )


def check_escape(escapechar: object) -> None:
    """Refuse what is not one byte.

    Raises:
        PipelineError: With what to write.
    """
    if escapechar is not None and not (isinstance(escapechar, bytes) and len(escapechar) == 1):
        raise PipelineError(
            f'escapechar must be bytes of size 1, got {escapechar!r}; write b"\\\\"'
        )


def records(
    file: IO[bytes], delimiter: bytes | None = None, escape: bytes | None = None, keep: bool = False
) -> Iterator[bytes]:
    r"""The records of a file.

    Args:
        file: What it has.
        delimiter: What ends a record; None: ``\n``, or ``\r\n``.
        escape: Before a delimiter it says that the record goes on.
        keep: Whether records keep their ends.
    """
    found = file if delimiter is None and escape is None else _cut(file, delimiter, escape)
    end = delimiter or b"\n"
    for record in found:
        if keep or not record.endswith(end) or _is_escaped(record, len(record) - len(end), escape):
            yield record
        elif delimiter is None and record.endswith(b"\r\n"):
            escaped = _is_escaped(record, len(record) - 2, escape)
            yield record[: -1 if escaped else -2]
        else:
            yield record[: -len(end)]


def _cut(file: IO[bytes], delimiter: bytes | None, escape: bytes | None) -> Iterable[bytes]:
    """Records with their ends."""
    end, held, begin, search = delimiter or b"\n", b"", 0, 0
    while True:
        at = held.find(end, search)
        if at < 0:
            more = file.read(_PART)
            if not more:
                break
            # An end may stand across both parts.
            search = max(search - begin, len(held) - begin - len(end) + 1, 0)
            held, begin = held[begin:] + more, 0
            continue
        search = at + len(end)
        if _is_escaped(held, at, escape, begin):
            continue
        yield held[begin:search]
        begin = search
    if begin < len(held):
        yield held[begin:]


def _is_escaped(data: bytes, at: int, escape: bytes | None, begin: int = 0) -> bool:
    """Whether an odd number of escapes stands before a place, from the beginning of a record."""
    if escape is None:
        return False
    number = 0
    while at - number > begin and data[at - number - 1 : at - number] == escape:
        number += 1
    return number % 2 == 1
