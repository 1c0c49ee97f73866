"""What axe-core finds on a page. It comes from the npm registry, and is no part of beamlike."""

from functools import cache
from typing import Any, Final

from beamlike.errors import BeamlikeError
from beamlike.playground.packages import NpmPackage, cache_folder

_AXE: Final = NpmPackage(
    "axe-core",
    "4.14.1",
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    needed="tests of accessibility need axe-core",
    by_hand=f"put it into {cache_folder()}",
)

_RUN: Final = """async () => {
    const placed = node => document.querySelector(node.target[0]).matches(".handle");
    const found = await axe.run({ rules: { "target-size": { enabled: true } } });
    return found.violations.flatMap(({ id, help, nodes }) => nodes
        .filter(node => id !== "target-size" || !placed(node))
        .map(node => `${id} (${help}): ${node.target.join(" ")}: ${node.failureSummary}`));
}"""
"""All rules, and that of sizes; but what is dragged stands where its times are, however close."""


def why_no_axe() -> str:
    """Why axe-core cannot be had on this machine; empty if it can."""
    try:
        _script()
    except BeamlikeError as problem:
        return str(problem)
    return ""


def axe_findings(tab: Any) -> list[str]:
    """All that axe-core finds on the page in a tab, each with its place."""
    # Not as an element of the page: its policy would refuse that.
    tab.evaluate(f"{_script()}\nnull")
    found: list[str] = tab.evaluate(_RUN)
    return found


@cache
def _script() -> str:
    return _AXE.files(["axe.min.js"])["axe.min.js"].decode()
