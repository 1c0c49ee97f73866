"""Functions of the graph that take bundles."""

from beamlike.model.graph import Do


class BundleDo(Do):
    """A function that takes whole bundles, and leaves elements as they are, as Beam has it."""

    @property
    def changes_elements(self) -> bool:
        return False
