"""The playground, built once and served on this machine, and what a test sees of it."""

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beamlike.playground.folder import build_folder
from beamlike.playground.server import PlaygroundServer
from tests.support.browser import headless_chromium


@pytest.fixture(scope="session")
def playground_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the playground. npm fetches Pyodide where it is not kept yet."""
    folder = tmp_path_factory.mktemp("playground")
    build_folder(folder)
    return folder


@pytest.fixture(scope="session")
def playground_url(playground_folder: Path) -> Iterator[str]:
    """Where it is served."""
    server = PlaygroundServer(playground_folder)
    yield server.url
    server.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A headless Chromium, open until the last page of the playground has been looked at."""
    with headless_chromium() as opened:
        yield opened


class Player:
    """Drives the page, and keeps everything that it should not do."""

    def __init__(self, context: Any, url: str) -> None:
        self.context, self.url = context, url
        self.noticed: list[str] = []
        self.requested: list[str] = []
        self.tab = context.new_page()
        self.tab.set_default_timeout(15_000)
        self.tab.on("console", lambda message: self.noticed.append(message.text))
        self.tab.on("pageerror", lambda error: self.noticed.append(str(error)))
        self.tab.on("request", lambda request: self.requested.append(request.url))
        self.tab.goto(url)
        self.tab.wait_for_selector("html[data-drawn]", timeout=120_000)

    def load(self, sketch: dict[str, Any]) -> None:
        """Open an address that holds a sketch."""
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(json.dumps(sketch).encode()) + packer.flush()
        text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
        self.tab.wait_for_timeout(400)  # until the address says how it is
        drawn = self.drawn
        self.tab.evaluate(
            """address => {
                if (location.hash !== address) location.hash = address;
                else dispatchEvent(new HashChangeEvent("hashchange"));
            }""",
            f"#s={text}",
        )
        self.wait_for_drawing(drawn)

    @property
    def drawn(self) -> int:
        """How often it has been drawn."""
        return int(self.tab.evaluate("document.documentElement.dataset.drawn"))

    def wait_for_drawing(self, drawn: int) -> None:
        """Wait until it has been drawn more often than that."""
        self.tab.wait_for_function(
            "drawn => Number(document.documentElement.dataset.drawn) > drawn", arg=drawn
        )

    def wait_for_panes(self, expected: list[str]) -> None:
        """Wait until these are all panes and drops, as window, pane and value."""
        try:
            self.tab.wait_for_function(
                "expected => JSON.stringify([...document.querySelectorAll('#panes tbody tr')].map("
                "row => [1, 2, 4].map(n => row.children[n].textContent).join(' '))) "
                "=== JSON.stringify(expected)",
                arg=expected,
                timeout=15_000,
            )
        except Exception:
            assert self.panes == expected  # says what is there instead
            raise

    @property
    def panes(self) -> list[str]:
        """The panes and drops in the table, as window, pane and value."""
        rows: list[str] = self.tab.locator("#panes tbody tr").evaluate_all(
            "rows => rows.map(row => [1, 2, 4].map(n => row.children[n].textContent).join(' '))"
        )
        return rows

    def unfold(self, words: str) -> None:
        """Open the part of the page with this title, unless it is open."""
        folded = self.tab.locator("details:not([open]) > summary", has_text=words)
        if folded.count():
            folded.click()

    def handle(self, label: str) -> Any:
        """What drags the element or the point of the watermark that is called so."""
        return self.tab.locator(f".handle[aria-label^='{label}']").first

    def centre(self, label: str) -> tuple[float, float]:
        box = self.handle(label).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def close(self) -> None:
        """Leave. Nothing was said on the console, and nothing was asked of another server."""
        self.context.close()
        assert self.noticed == []
        asked = [url for url in self.requested if not url.startswith(("data:", "blob:"))]
        assert [url for url in asked if not url.startswith(self.url)] == []


@pytest.fixture(scope="package")
def player(browser: Any, playground_url: str) -> Iterator[Player]:
    """A player at a desk. Python is started once: that takes the browser ten seconds."""
    found = Player(
        browser.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True),
        playground_url,
    )
    yield found
    found.close()


@pytest.fixture(scope="package")
def phone(browser: Any, playground_url: str) -> Iterator[Player]:
    """A player with a phone."""
    size = {"width": 390, "height": 844}
    context = browser.new_context(viewport=size, has_touch=True, is_mobile=True)
    found = Player(context, playground_url)
    yield found
    found.close()
