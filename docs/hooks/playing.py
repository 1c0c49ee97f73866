"""The playground is a part of the site: it is built into a folder of it, and its page shows it.

Its Pyodide comes from npm, once. Where that cannot be had the site has no playground.
"""

import logging
from pathlib import Path
from typing import Any

from mkdocs.structure.files import Files

from beamlike.errors import EnvironmentProblem
from beamlike.playground.folder import build_folder

PAGE, FOLDER = "playground.md", "playground"
FRAME = (
    f'<iframe class="playground" src="{FOLDER}/index.html" title="The playground" loading="lazy">'
    "</iframe>\n\n"
)
BEFORE = "## On the page"
LOG = logging.getLogger("mkdocs.hooks.playing")


def on_files(files: Files, config: Any) -> Files:
    folder = Path(config["site_dir"]) / FOLDER
    try:
        build_folder(folder)
    except EnvironmentProblem as problem:
        LOG.info("without the playground: %s", problem)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    built = (Path(config["site_dir"]) / FOLDER / "index.html").is_file()
    if page.file.src_uri != PAGE or not built:
        return markdown
    return markdown.replace(BEFORE, FRAME + BEFORE)
