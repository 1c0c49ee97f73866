"""Links between the pages of the project lead somewhere, and the pages name what there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "pages"
FOLDERS = (DOCS, ROOT / "notebooks", ROOT / "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(page for it in FOLDERS for page in it.glob("**/*.md"))])
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^()\s]+)\)")


def prose(page: Path) -> str:
    """What is written outside of blocks of code, where a hash begins no heading."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What a link may name behind its hash: a heading in small letters, with hyphens for spaces.

    Signs are left out. A heading that is there twice would need a number, and is no anchor.
    """
    headings = HEADING.findall(prose(page))
    small = [re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings]
    return {anchor for anchor in small if small.count(anchor) == 1}


def leads_nowhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return not target.exists() or (bool(anchor) and anchor not in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(prose(page)) if "://" not in link]

    assert [link for link in links if leads_nowhere(page, link)] == []


def test_a_link_to_a_page_or_a_heading_that_is_not_there_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Keys, shards & `tasks`\n## Twice\n## Twice\n```\n# code\n```\n")
    links = ["#keys-shards--tasks", "page.md#twice", "#code", "#Twice", "other.md", "page.md"]

    assert [link for link in links if leads_nowhere(page, link)] == [
        "page.md#twice",
        "#code",
        "#Twice",
        "other.md",
    ]


def test_the_table_of_folders_has_every_package_and_every_command_of_the_tests() -> None:
    _, _, table = (DOCS / "architecture.md").read_text("utf-8").partition("| folder |")
    folders = re.findall(r"`([\w./]+)`", "".join(re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)))
    inits = [path for path in ROOT.glob("beamlike/*/__init__.py") if not path.parent.is_symlink()]
    packages = {f"beamlike/{init.parent.name}" for init in inits}
    commands = {f"tests/{main.parent.name}" for main in ROOT.glob("tests/*/__main__.py")}

    assert [folder for folder in folders if not (ROOT / folder).exists()] == []
    assert packages | commands <= set(folders)
