"""Files of the repository that pages link to are pages of the site too, and their links lead on.

Some pages are read where they lie: the README, the notebooks, CONTRIBUTING.md. Others link to a
module, a test or a table of results by its path in the checkout, which GitHub shows as well. Each
such file gets a page of its own, under the name of `PAGES` or under ``source/``, so that the site
is whole without a network. A link that leads nowhere stops the build.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs/pages/"
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
    "notebooks/README.md": "notebooks/index.md",
}
PICTURES = (".png", ".svg")
LANGUAGES = {".py": "python", ".json": "json", ".cfg": "ini", ".toml": "toml", ".yml": "yaml"}
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


def page_of(path: str) -> str:
    """The address of a file's page in the site, by the file's path in the repository."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    if path in PAGES:
        return PAGES[path]
    if path.endswith(".ipynb"):
        return path.removesuffix(".ipynb") + ".md"
    return f"source/{path}" if path.endswith((".md", *PICTURES)) else f"source/{path}.md"


def _target(path: str, link: str) -> str | None:
    """What a link of a file leads to, in the repository; None if it stays in its page or leaves."""
    if "://" in link or link.startswith(("#", "mailto:", "data:")):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link.partition("#")[0]))


def _parts(markdown: str) -> Iterator[tuple[bool, str]]:
    """A page in parts, and of each whether it is prose and no block of code."""
    at = 0
    for block in FENCE.finditer(markdown):
        yield True, markdown[at : block.start()]
        yield False, block[0]
        at = block.end()
    yield True, markdown[at:]


def links_of(path: str, markdown: str) -> list[str]:
    """The files of the repository that a page links to."""
    found = [link for prose, part in _parts(markdown) if prose for link in LINK.findall(part)]
    return [target for link in found if (target := _target(path, link)) is not None]


def relinked(path: str, markdown: str) -> str:
    """The page with links to pages of the site in place of paths of the repository."""
    here = posixpath.dirname(page_of(path))

    def changed(match: re.Match[str]) -> str:
        target = _target(path, match[1])
        if target is None:
            return match[0]
        _, hash_, anchor = match[1].partition("#")
        return f"]({posixpath.relpath(page_of(target), here or '.')}{hash_}{anchor})"

    return "".join(LINK.sub(changed, part) if prose else part for prose, part in _parts(markdown))


def _as_page(path: str) -> str:
    """A file of the repository as Markdown."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    if path.endswith(".ipynb"):
        return notebook_page(json.loads(text))
    language = LANGUAGES.get(Path(path).suffix, "text")
    # A search finds what is written to be read, and no code.
    front = "---\nsearch: {exclude: true}\n---\n"
    return f"{front}# {path}\n\n````{language}\n{text.rstrip()}\n````\n"


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as it was saved. Nothing of it runs."""
    return "\n\n".join(part for cell in notebook["cells"] for part in _cell(cell))


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        for name, kinds in cell.get("attachments", {}).items():
            ((kind, data),) = kinds.items()
            source = source.replace(f"attachment:{name}", f"data:{kind};base64,{data}")
        yield source.replace("<details>", '<details markdown="1">')
        return
    if source:
        yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        plain = "".join(data.get("text/plain", ""))
        if "image/png" in data:
            words = plain.replace("&", "&amp;").replace('"', "&quot;").replace("\n", "&#10;")
            picture = "".join(data["image/png"]).replace("\n", "")
            # A block, so that nothing looks for Markdown in it.
            yield f'<div><img alt="{words}" src="data:image/png;base64,{picture}"></div>'
        elif "text/html" in data:
            yield re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))
        else:
            yield f"````text\n{plain.rstrip()}\n````"


def on_files(files: Files, config: Any) -> Files:
    notebooks = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("notebooks/*.ipynb"))
    waiting = [*PAGES, *notebooks]
    for file in files.documentation_pages():
        path = DOCS + file.src_uri
        waiting += links_of(path, file.content_string)
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done or path.startswith(DOCS):
            continue
        done.add(path)
        if not (ROOT / path).is_file():
            raise FileNotFoundError(f"a page links to {path}, which is no file of the repository")
        if path.endswith(PICTURES):
            files.append(File.generated(config, page_of(path), abs_src_path=str(ROOT / path)))
            continue
        page = _as_page(path)
        waiting += links_of(path, page)
        files.append(File.generated(config, page_of(path), content=relinked(path, page)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Pages of ``docs/pages`` link as in the checkout too; the others have been changed already."""
    written_here = page.file.generated_by is None
    return relinked(DOCS + page.file.src_uri, markdown) if written_here else markdown
