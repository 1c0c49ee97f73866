"""A trigger that Beam does not have is named in few files: all else follows from its class."""

import io
import tokenize
from pathlib import Path

import pytest

from beamlike.model.extra_triggers import EXTRA_TRIGGERS

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ("model/extra_triggers.py", "model/interval_triggers.py", "__init__.py")


def names_in(file: Path) -> set[str]:
    """Every name in the code of a file; its strings and comments have none."""
    tokens = tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def in_product() -> dict[str, set[str]]:
    """The names in each file of the product, the harness and the tests' support."""
    package = ROOT / "beamlike"
    files = {str(file.relative_to(package)): file for file in package.rglob("*.py")}
    for folder in (ROOT / "testing", ROOT / "tests" / "support"):
        files |= {str(file.relative_to(ROOT)): file for file in folder.rglob("*.py")}
    return {name: names_in(file) for name, file in files.items()}


@pytest.fixture(scope="module")
def names() -> dict[str, set[str]]:
    return in_product()


@pytest.mark.parametrize("kind", EXTRA_TRIGGERS)
def test_its_class_and_the_public_names_are_all(kind: str, names: dict[str, set[str]]) -> None:
    # A dialect is a client: it says what another system means by it.
    found = {file for file, of in names.items() if kind in of and "dialects/" not in file}

    assert "__init__.py" in found
    assert found <= set(WRITTEN)


def test_the_page_of_triggers_has_a_row_for_each() -> None:
    page = (ROOT / "docs" / "pages" / "triggers.md").read_text(encoding="utf-8")

    assert [kind for kind in EXTRA_TRIGGERS if f"| `{kind}(" not in page] == []
