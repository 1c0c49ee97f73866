"""Steps that follow each other without a grouping, as one function of the graph."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from beamlike.hosts.garbage import collect_young
from beamlike.model.bundle import BUNDLE_SIZE, Bundle, Windowed
from beamlike.model.graph import RaisedFor
from beamlike.runners.beam.elements import BundleDo, ElementForm
from beamlike.runners.beam.metrics import Sampler
from beamlike.runners.beam.sdk import pickler
from beamlike.runners.beam.steps import Opened, Opening, Step, opened
from beamlike.runners.beam.windows import Assigning
from beamlike.safe_text import USER_RAISED


class Stage(Opening, BundleDo):
    """Steps as one function. What comes out of it goes by collection and form."""

    def __init__(self, label: str, takes: ElementForm, source: str) -> None:
        self.label, self._takes, self._source = label, takes, source
        self.steps: list[Step] = []
        self._wanted: dict[str, tuple[str, ElementForm]] = {}
        self._reads: dict[str, tuple[str, Assigning | None]] = {}
        self._opened: Opened | None = None
        self._contents: Sequence[Sequence[Any]] = ()

    def __getstate__(self) -> dict[str, Any]:
        # What was opened belongs to this process.
        return {**vars(self), "_opened": None, "_contents": (), "_reads": {}}

    def output(self, collection: str, form: ElementForm, suffix: str = "") -> str:
        """The tag under which a collection leaves it in a form."""
        tag = collection + suffix
        self._wanted[tag] = collection, form
        return tag

    def setup(self) -> None:
        self._sampler = Sampler()
        self._reads = {tag: self._read(collection) for tag, (collection, _) in self._wanted.items()}
        kept = dict.fromkeys(collection for collection, _ in self._reads.values())
        needed = {step.source for step in self.steps} | kept.keys()
        steps = [
            step
            for step in self.steps
            if step.assigns is None or needed.intersection(step.outputs.values())
        ]
        with self._sampler:
            self._opened = opened(steps, self._source, kept, self._sampler)

    def _read(self, collection: str) -> tuple[str, Assigning | None]:
        """What is kept for a collection, and how that is windowed as it leaves.

        The last window transform is done for many elements at once, where its function allows that.
        """
        for step in self.steps:
            if step.assigns is not None and collection in step.outputs.values():
                assigning = Assigning.of(pickler.loads(step.assigns))
                if assigning is not None:
                    return step.source, assigning
        return collection, None

    def start_bundle(self) -> None:
        with self._sampler:
            self._open.start_bundle()

    def see(self, contents: Sequence[Sequence[Any]]) -> None:
        for side, items in zip(self._open.sides, contents, strict=True):
            side.items = items

    def run(self, bundle: Bundle) -> Iterator[tuple[str, Bundle]]:
        elements = self._takes.values(bundle)
        while self._receive(elements):
            yield from self._taken()
            collect_young()
        yield from self._taken()

    def _receive(self, elements: Iterator[Any]) -> bool:
        """Take elements until much has come out; whether some may be left."""
        entry = self._open.entry
        receive, outputs = entry.receive, [*self._open.outputs.values()]
        with self._sampler:
            for element in elements:
                try:
                    receive(element)
                except USER_RAISED as cause:
                    raise RaisedFor(_shown(element)) from cause
                for held in outputs:
                    if len(held) >= BUNDLE_SIZE:
                        return True
            entry.flush()  # what comes later may see other side inputs
        return False

    def _taken(self) -> Iterator[tuple[str, Bundle]]:
        """What came out since the last call."""
        outputs = self._open.outputs
        for tag, (collection, assigning) in self._reads.items():
            elements = outputs[collection]
            if elements:
                _, form = self._wanted[tag]
                if assigning is None:
                    yield tag, form.bundle(elements)
                else:
                    yield tag, form.assigned(elements, assigning)
        for elements in outputs.values():
            elements.clear()

    def finish_bundle(self) -> list[tuple[str, Windowed]]:
        taken = self._end_bundle(self._taken)
        return [(tag, element) for tag, bundle in taken for element in bundle]


def _shown(element: Any) -> Windowed:
    """An element for the message of what was raised for it."""
    return Windowed(element.value, element.timestamp_micros)


class Untagged(BundleDo):
    """Pairs of a tag and a value, each at the output of its tag."""

    def process(self, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        tag, value = element.value
        return ((tag, Windowed(value, element.timestamp, element.windows, element.pane)),)


def with_one_key(values: Sequence[Any]) -> list[Any]:
    """Elements as pairs that all have one key."""
    return [((), value) for value in values]
