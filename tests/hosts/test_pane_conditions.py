"""What a condition on rows says of the panes that it leaves."""

import pytest

from beamlike.runtime.pane_conditions import marks_of_all


class Shown:
    """A column of Spark, as far as it shows itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return f"Column<'{self.text}'>"


@pytest.mark.parametrize(
    ("condition", "marks"),
    [
        # As SQL.
        ("pane.is_last", {"is_last"}),
        ("`pane`.`is_last`", {"is_last"}),
        ("pane.is_first", {"is_first"}),
        ("pane.index = 0", {"is_first"}),
        ("pane.timing = 'ON_TIME'", {"on_time"}),
        (" Pane . is_last ", {"is_last"}),
        ("n > 3 AND pane.is_last", {"is_last"}),
        ("n > 3 and pane.is_last and pane.is_first", {"is_first", "is_last"}),
        ("pane.is_last and k = 'tea'", {"is_last"}),
        # As a column shows itself, of classic Spark and of Spark Connect.
        (Shown("pane.is_last"), {"is_last"}),
        (Shown("pane['is_last']"), {"is_last"}),
        (Shown("=(pane.timing, 'ON_TIME')"), {"on_time"}),
        (Shown("=(pane.index, 0)"), {"is_first"}),
        (Shown("(pane.timing == ON_TIME)"), {"on_time"}),
    ],
    ids=lambda it: " ".join(sorted(it)) if isinstance(it, set) else str(it),
)
def test_a_condition_that_leaves_panes_with_a_mark_is_read(condition, marks):
    assert marks_of_all(condition) == marks


@pytest.mark.parametrize(
    "condition",
    [
        "n > 3",
        "not pane.is_last",
        "pane.is_last or n > 3",
        "n > 3 and pane.is_last or n < 1",
        "pane.is_last = false",
        "pane.timing != 'EARLY'",
        "pane.timing = 'LATE'",
        "pane.index = 1",
        "case when n > 3 and pane.is_last and n < 9 then true else true end",
        "other.pane.is_last",
        "is_last",
        "(n > 3) and (pane.is_last)",
        "pane.is_last and k = 'this and that'",
        "any(n > 3 and pane.is_last and x)",
        "not(n > 3 and pane.is_last)",
        "k = 'x and pane.is_last'",
        "k = 'x and pane.is_last and y'",
        "k = 'it\\'s' and pane.is_last and k = '",
        "coalesce(n > 3 and pane.is_last, true)",
        "any(n > 3) and x and pane.is_last -- or true",
        "",
        Shown("!(pane.is_last)"),
        Shown("or(pane.is_last, >(n, 3))"),
        Shown("and(pane.is_last, n) or (n)"),
        Shown("and(>(n, 3), pane.is_last)"),
        Shown("=(pane.timing, 'EARLY')"),
        Shown("not(and(pane.is_last, n))"),
    ],
    ids=str,
)
def test_a_condition_that_may_leave_other_panes_says_nothing(condition):
    assert marks_of_all(condition) == frozenset()
