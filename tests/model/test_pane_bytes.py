"""Panes as Beam writes them on the wire."""

from itertools import product

import pytest

from beamlike.errors import StateError
from beamlike.model.panes import NO_FIRING, PaneInfo, Timing, decode_pane, encode_pane, next_pane

EARLY, ON_TIME, LATE = Timing.EARLY, Timing.ON_TIME, Timing.LATE


@pytest.mark.parametrize(
    ("pane", "expected"),
    [
        (NO_FIRING, "0f"),
        (PaneInfo(ON_TIME, 0, 0, True, True), "07"),
        (PaneInfo(ON_TIME, 0, 0, True, False), "05"),
        (PaneInfo(LATE, 0, 0, True, False), "09"),
        (PaneInfo(EARLY, 0, -1, True, False), "1100"),
        (PaneInfo(EARLY, 3, -1, False, True), "1203"),
        (PaneInfo(ON_TIME, 2, 0, False, False), "240200"),
        (PaneInfo(LATE, 1, 1, False, False), "1801"),
        (PaneInfo(LATE, 300, 127, False, True), "2aac027f"),
        (PaneInfo(LATE, 2**63 - 1, 128, False, False), "28ffffffffffffffff7f8001"),
    ],
    ids=str,
)
def test_a_pane_is_a_byte_and_the_indexes_that_do_not_follow_from_it(pane, expected):
    assert encode_pane(pane).hex() == expected
    assert decode_pane(bytes.fromhex(expected)) == pane


def test_every_pane_that_can_follow_another_is_read_as_it_was_written():
    seen: set[PaneInfo | None] = {None}
    for _ in range(4):
        seen |= {
            next_pane(before, window_is_over=over, output_moved_on=moved, is_last=last)
            for before, over, moved, last in product(seen, *[(False, True)] * 3)
        }
    panes = seen - {None}
    assert {decode_pane(encode_pane(pane)) for pane in panes} == panes
    assert len({encode_pane(pane) for pane in panes}) == len(panes) == 36


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ("", "a pane is at least one byte, got none"),
        (
            "3f00",
            "a pane that begins with the byte 0x3f has a layout that is not known here; the first "
            "half of that byte must be 0, 1 or 2",
        ),
        ("0f00", "a pane ends before the last 1 of the bytes 0f 00"),
        ("1101ff01", "a pane ends before the last 2 of the bytes 11 01 ff 01"),
        ("11", "an index of a pane is cut off or too large in the bytes 11"),
        ("11ff", "an index of a pane is cut off or too large in the bytes 11 ff"),
        ("2401", "an index of a pane is cut off or too large in the bytes 24 01"),
        (
            "11" + "ff" * 9 + "01",
            "an index of a pane is cut off or too large in the bytes 11" + " ff" * 9 + " 01",
        ),
    ],
)
def test_bytes_that_are_no_pane_are_refused(data, complaint):
    with pytest.raises(StateError) as refused:
        decode_pane(bytes.fromhex(data))
    assert str(refused.value) == complaint
