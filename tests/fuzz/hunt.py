"""One reader, hunted by atheris in a process of its own: libFuzzer never returns.

Only what is unexpected is printed, as a line of JSON for each kind; the hunt goes on after it.
"""

import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["beamlike", "json"]):
    from tests.fuzz.readers import READERS, Unexpected, attempt


def main(arguments: Sequence[str]) -> None:
    """Hunt until libFuzzer's time is up.

    Args:
        arguments: The reader's name, the folder for what is found, and libFuzzer's own arguments.
    """
    name, found, *fuzzer = arguments
    (reader,) = (it for it in READERS if it.name == name)
    folder, seen = Path(found), set[str]()

    def once(data: bytes) -> None:
        try:
            attempt(reader, data)
        except Unexpected as unexpected:
            cause = unexpected.__cause__ or unexpected
            *_, last = traceback.extract_tb(cause.__traceback__)
            kind = f"{type(cause).__name__} at {Path(last.filename).name}:{last.lineno}"
            if kind not in seen:
                seen.add(kind)
                at = folder / f"{name}-{len(seen)}"
                at.write_bytes(data)
                shown = {"found": kind, "problem": str(unexpected)[:600], "input": at.name}
                print(json.dumps(shown), flush=True)

    atheris.Setup([sys.argv[0], *fuzzer], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
