"""The table of types and aggregates is true, under each setting that changes what Spark does."""

from pathlib import Path
from typing import Any

import pytest

from tests.matrix.cells import TYPES, cells_of, table

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[2] / "docs/pages/types.md"
SETTINGS = [
    (ansi, zone)
    for ansi in ("true", "false")
    for zone in ("UTC", "Asia/Kathmandu", "America/New_York")
]
DAILY = [
    pytest.param(*SETTINGS[0]),
    *(pytest.param(*it, marks=pytest.mark.nightly) for it in SETTINGS[1:]),
]


@pytest.mark.parametrize(("ansi", "zone"), DAILY)
def test_every_cell_is_what_the_page_says(spark: Any, ansi: str, zone: str) -> None:
    settings = {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": zone}
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        seen = table({dtype: cells_of(spark, dtype) for dtype in TYPES})
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    page = PAGE.read_text()
    said = page[page.index("| type | key |") :].partition("\n\n")[0].strip()
    assert seen == said, f"\n{seen}"
