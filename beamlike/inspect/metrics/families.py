"""Metrics and their text form, as OpenMetrics 1.0 has it.

Source: the OpenMetrics specification, "Text format" and "Metric types".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

import attrs

CONTENT_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@attrs.frozen
class Sample:
    """A number, and what it is of."""

    labels: Mapping[str, str]
    value: int | float


@attrs.frozen
class Family:
    """A metric: numbers of one kind, which differ in their labels.

    Args:
        name: Without the ``_total`` of counters. It ends in the unit, if there is one.
        kind: A counter only grows; a gauge goes up and down.
        help: What it is, in a sentence.
        samples: No two have the same labels.
        unit: The unit of the numbers; nothing for plain counts.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    samples: tuple[Sample, ...]
    unit: str = ""


def open_metrics(families: Iterable[Family]) -> str:
    """All metrics that have a sample, as text.

    >>> print(open_metrics([Family("rows", "counter", "Rows.", (Sample({"of": 'a "b"'}, 3),))]))
    # TYPE rows counter
    # HELP rows Rows.
    rows_total{of="a \\"b\\""} 3
    # EOF
    <BLANKLINE>
    """
    lines = [line for family in families if family.samples for line in _lines(family)]
    return "\n".join([*lines, "# EOF", ""])


def _lines(family: Family) -> Iterator[str]:
    yield f"# TYPE {family.name} {family.kind}"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {_escaped(family.help)}"
    name = f"{family.name}_total" if family.kind == "counter" else family.name
    for sample in family.samples:
        labels = ",".join(f'{of}="{_escaped(value)}"' for of, value in sample.labels.items())
        yield f"{name}{{{labels}}} {sample.value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
