"""Blocks of code of a page, which run in order and print what follows them."""

import contextlib
import io
import re
from collections.abc import Sequence
from typing import Any


def blocks_of(text: str) -> list[tuple[str, str]]:
    """The language of each block of code, and what is in it."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def check_blocks(page: str, blocks: Sequence[tuple[str, str]], names: dict[str, Any]) -> None:
    """Run the blocks of Python of a page, and compare what they print with the block behind."""
    names["__name__"] = "__main__"
    for position, (language, text) in enumerate(blocks):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, page, "exec"), names)
        after, said = blocks[position + 1] if position + 1 < len(blocks) else ("", "")
        expected = said if after == "text" else ""
        assert printed.getvalue().strip("\n") == expected.strip("\n")
