"""Bad inputs out of good ones, as hypothesis draws them."""

import json
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

_ODD_VALUES = (
    *(None, True, False, 0, -1, 1.5, 2**63, -(2**63) - 1, 10**400, 1e308, "", "\x00", "\ud800"),
    *("a" * 300, "0", [], {}, [[]], {"": None}, "\x1b[2J", "<script>"),
)


@st.composite
def damaged(draw: st.DrawFn, good: bytes, words: tuple[bytes, ...] = ()) -> bytes:
    """These bytes with a few of them changed, left out, put in or said twice."""
    data = bytearray(good)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(1, 16))
        match draw(st.sampled_from(("flip", "cut", "end", "twice", "word", "bytes"))):
            case "flip" if data:
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[at : at + length]
            case "end":
                del data[at:]
            case "twice":
                data[at:at] = data[at : at + length]
            case "word" if words:
                data[at:at] = draw(st.sampled_from(words))
            case _:
                data[at : at + length] = draw(st.binary(max_size=8))
    return bytes(data)


@st.composite
def json_documents(draw: st.DrawFn, good: bytes) -> bytes:
    """This document with a few values changed: still JSON, and hardly what was meant."""
    document = json.loads(good)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(document))
        if not places:
            break
        holder, at = draw(st.sampled_from(places))
        match draw(st.sampled_from(("other", "gone", "twice", "renamed"))):
            case "gone":
                del holder[at]
            case "twice" if isinstance(holder, list):
                holder.append(holder[at])
            case "renamed" if isinstance(holder, dict):
                holder[f"{at}s"] = holder.pop(at)
            case _:
                # A copy: the next change may be inside of it.
                holder[at] = deepcopy(draw(st.sampled_from(_ODD_VALUES)))
    return json.dumps(document).encode()


def _places(document: Any) -> Any:
    """Every value in a document, as what holds it and where."""
    holds = document.items() if isinstance(document, dict) else enumerate(document)
    for at, value in list(holds):
        yield document, at
        if isinstance(value, dict | list):
            yield from _places(value)
