"""Run notebooks from top to bottom and save them with their outputs.

    python -m tests.saved_notebooks            # all of them
    python -m tests.saved_notebooks 00 06      # those whose names begin so

Spark's log is not saved, nor when a cell ran, nor what cells tagged `live` show.
"""

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


def run(path: Path) -> NotebookNode:
    """The notebook as it is after a run in a kernel of its own."""
    notebook = nbformat.read(path, as_version=4)
    known = dict(notebook.metadata)
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
        extra_arguments=["--IPKernelApp.capture_fd_output=False"],
    ).execute()
    notebook.metadata = nbformat.from_dict(known)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            live = "live" in cell.metadata.get("tags", [])
            cell.outputs = [] if live else joined(cell.outputs)
    return notebook


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs with what was printed in pieces in one piece."""
    notebook_nodes: list[NotebookNode] = []
    for output in outputs:
        last = notebook_nodes[-1] if notebook_nodes else None
        pieces = (output.get("name"), "stream") if output.output_type == "stream" else None
        if last is not None and pieces == (last.get("name"), last.output_type):
            last.text += output.text
        else:
            notebook_nodes.append(output)
    return notebook_nodes


def main(names: list[str]) -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and not path.name.startswith(tuple(names)):
            continue
        start = time.monotonic()
        nbformat.write(run(path), path)
        seconds, size = time.monotonic() - start, path.stat().st_size
        print(f"{path.name}: {seconds:.0f} s, {size / 1000:,.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
