"""The scenarios that the rules name: each is run when the site is built, and shown as a timeline.

A rule names scenarios of ``tests/conformance/cases`` by their ids. In the site an id leads to what
went in and what came out, on one page with all of them.
"""

import contextlib
import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from beamlike.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("semantics.md", "beams_runners.md")
SHOWN = "scenarios.md"
ID = re.compile(r"`([a-z][a-z0-9]*_\w+)`")
HEAD = """# Scenarios

What goes in and what comes out in each scenario that a [rule](semantics.md) or the table of
[runners](beams_runners.md) names. `beamlike replay --format timeline` made this page, and tests
play the same scenarios on every host.
"""


def scenarios() -> dict[str, dict[str, Any]]:
    """All scenarios of the suite by their ids."""
    files = sorted((ROOT / "tests" / "conformance" / "cases").glob("*/*.json"))
    return {one["id"]: one for file in files for one in json.loads(file.read_text("utf-8"))}


def played(chosen: list[dict[str, Any]]) -> str:
    """What ``beamlike replay`` prints of these."""
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "scenarios.json")
        file.write_text(json.dumps(chosen), encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = main(["replay", str(file), "--format", "timeline"])
    if status != 0:
        raise ValueError(
            f"not all scenarios of the rules come out as expected:\n{printed.getvalue()}"
        )
    return printed.getvalue()


def page_of(chosen: list[dict[str, Any]]) -> str:
    parts = re.split(r"^== (\w+): (.*)$", played(chosen), flags=re.MULTILINE)[1:]
    sections = [HEAD]
    for name, title, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        shown = re.sub(r"\n\d+ scenarios: .*$", "", text.strip("\n"))
        shown = re.sub(r"\n\* element .*\n", "\n", shown).replace("\n\n\n", "\n\n")
        heading = f"## {name}\n\n" + ("" if title == name.replace("_", " ") else f"{title}\n\n")
        sections.append(f"{heading}```text\n{shown.removesuffix('as expected').rstrip()}\n```\n")
    return "\n".join(sections)


def on_files(files: Files, config: Any) -> Files:
    known = scenarios()
    text = "".join(page.content_string for page in files if page.src_uri in PAGES)
    named = [known[found] for found in dict.fromkeys(ID.findall(text)) if found in known]
    files.append(File.generated(config, SHOWN, content=page_of(named)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if page.file.src_uri not in PAGES:
        return markdown
    known = scenarios()
    link = r"[`\1`](scenarios.md#\1)"
    return ID.sub(lambda found: found.expand(link) if found[1] in known else found[0], markdown)
