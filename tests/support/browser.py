"""A real browser, for tests of pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
"""Where it is on this machine; None if it is not."""


@contextmanager
def headless_chromium() -> Iterator[Any]:
    """It, driven by playwright.

    While it is open playwright's event loop is in the way of others.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()
