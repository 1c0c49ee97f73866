"""The site of `docs/` is built without a warning, its links lead somewhere, and it is whole.

The command of the README builds it, in an environment with ``.[docs]`` alone.

Whole: a page loads no script, style, font or picture from elsewhere, so that it needs no network.
"""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import attrs
import pytest

import beamlike
import beamlike.beam
import beamlike.dialects.akka
import beamlike.dialects.apex
import beamlike.dialects.flink
import beamlike.dialects.kafka
import beamlike.errors
import beamlike.kafka
import beamlike.playground
import beamlike.scio
import beamlike.tables
import beamlike.testing
from tests.compatibility.steps import checkout

pytestmark = pytest.mark.xdist_group("site")  # it is built once

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LOADING = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
PLAYGROUND = "playground/"
"""`beamlike playground --build` puts it there; see tests/test_teaching.py for links to it."""
NOT_LOADED = {"canonical", "next", "prev"}
IN_STYLES = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"'])((?:https?:)?//[^\"')\s]+)")


@attrs.define
class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    links: list[str] = attrs.field(factory=list)
    loaded: list[str] = attrs.field(factory=list)
    anchors: set[str] = attrs.field(factory=set)

    def __attrs_pre_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in given}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADING and found.get("rel") not in NOT_LOADED:
            self.loaded += [found[LOADING[tag]]] if LOADING[tag] in found else []


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


@attrs.frozen
class Environment:
    """An installation with ``.[docs]`` and nothing else."""

    python: Path

    def build(self, *command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """Build a site. The variables of this process that concern Python are not for it."""
        clean = {name: it for name, it in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            [self.python, *command],
            cwd=cwd,
            env=clean | {"NO_MKDOCS_2_WARNING": "1"},  # of the theme, on what comes after it
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    home = tmp_path_factory.mktemp("docs")
    venv, source = home / "venv", checkout(ROOT, home / "checkout")
    for command in (
        ("venv", "--without-pip", venv),
        ("pip", "--python", venv / "bin" / "python", "install", "--quiet", f"{source}[docs]"),
    ):
        subprocess.run([sys.executable, "-m", *command], check=True)
    return Environment(venv / "bin" / "python")


def command_of_the_readme() -> list[str]:
    (command,) = re.findall(r"^\$ \.venv/bin/python (-m mkdocs .*)$", README, re.MULTILINE)
    return command.split()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, environment: Environment) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = environment.build(*command_of_the_readme(), "-d", str(folder))
    assert built.returncode == 0, built.stdout
    assert "WARNING" not in built.stdout, built.stdout
    return folder


def test_a_page_that_links_to_nothing_stops_the_build(tmp_path: Path, environment: Environment):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text("# A page\n\n[Nowhere](nowhere.md)\n")
    (tmp_path / "docs").mkdir()
    plain = {"docs_dir": "../pages", "nav": ["index.md"], "hooks": [], "plugins": []}
    config = {"INHERIT": str(ROOT / "docs" / "mkdocs.yml"), **plain, "not_in_nav": ""}
    (tmp_path / "docs" / "mkdocs.yml").write_text(json.dumps(config | {"extra_css": []}))

    built = environment.build(*command_of_the_readme(), cwd=tmp_path)
    assert built.returncode == 1, built.stdout
    assert "Aborted with 1 warnings in strict mode!" in built.stdout
    assert "contains a link 'nowhere.md', but the target is not found" in built.stdout


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: read(path) for path in sorted(site.rglob("*.html"))}


def _leads_nowhere(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    if parts.path.startswith(PLAYGROUND):
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    anchor = unquote(parts.fragment)
    if target in pages:
        return anchor not in ("", "__top", *pages[target].anchors)
    return not target.is_file()


def test_every_link_inside_the_site_leads_somewhere(pages: dict[Path, Page]) -> None:
    # It is shown at any address, so its links begin with a slash.
    written = {path: page for path, page in pages.items() if path.name != "404.html"}
    dead = [
        f"{path.name}: {link}"
        for path, page in written.items()
        for link in page.links
        if _leads_nowhere(path, link, pages)
    ]

    assert len(written) > 30
    assert dead == []


def test_no_page_loads_anything_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    loaded = [
        f"{path.name}: {source}"
        for path, page in pages.items()
        for source in page.loaded
        if urlsplit(source).scheme not in ("", "data") or urlsplit(source).netloc
    ]
    styles = [
        f"{path.name}: {source}"
        for path in (*site.rglob("*.css"), *pages)
        for source in IN_STYLES.findall(path.read_text(encoding="utf-8"))
    ]

    assert loaded == []
    assert styles == []


def test_a_search_finds_what_is_written_to_be_read_and_no_code(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}

    assert {"index.html", "pyspark.html", "api/beamlike.html", "notebooks/index.html"} <= found
    assert [page for page in found if re.search(r"\.(?:py|json|cfg|toml|yml)\.html$", page)] == []
    assert (site / "source/beamlike/__init__.py.html").is_file()


def test_a_dead_link_and_a_resource_from_elsewhere_are_found(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        '<h2 id="here"></h2><a href="#here"></a><a href="#there"></a><a href="other.html"></a>'
        '<a href="https://example.com/"></a><script src="https://example.com/a.js"></script>'
    )
    page = read(path)
    dead = [link for link in page.links if _leads_nowhere(path, link, {path: page})]

    assert dead == ["#there", "other.html"]
    assert page.loaded == ["https://example.com/a.js"]
    assert IN_STYLES.findall(
        '@import "//fonts.example.com/a"; url(https://example.com/b.woff)'
    ) == ["//fonts.example.com/a", "https://example.com/b.woff"]


PUBLIC = (
    beamlike,
    beamlike.beam,
    beamlike.scio,
    beamlike.dialects.akka,
    beamlike.dialects.apex,
    beamlike.dialects.flink,
    beamlike.dialects.kafka,
    beamlike.errors,
    beamlike.kafka,
    beamlike.playground,
    beamlike.tables,
    beamlike.testing,
)


@pytest.mark.parametrize("module", PUBLIC, ids=lambda it: it.__name__)
def test_the_reference_has_every_public_name(module: ModuleType, pages: dict[Path, Page]) -> None:
    # Modules of Beam's module tree have names of ``beamlike.beam`` under those of Beam.
    names = [it for it in module.__all__ if not isinstance(getattr(module, it), ModuleType)]
    anchors = {anchor for page in pages.values() for anchor in page.anchors}

    assert [name for name in names if f"{module.__name__}.{name}" not in anchors] == []


def test_the_playground_is_a_part_of_the_site(site: Path, pages: dict[Path, Page]) -> None:
    if os.environ.get("BEAMLIKE_NO_PYODIDE"):
        pytest.skip("the playground cannot be built here")
    assert pages[site / "playground.html"].loaded.count("playground/index.html") == 1
    built = {path.name for path in (site / "playground").iterdir()}
    assert {"index.html", "playground.js", "worker.mjs", "beamlike.zip", "pyodide"} <= built
