"""The verb that ends a job: what comes out of it, under a name.

Source: Scio ``saveAsCustomOutput``.
"""

from typing import TYPE_CHECKING, Any, TypeVar

from beamlike.api.pipelines.named import SaveAs
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.scio.steps import Verbs, here
from beamlike.api.pipelines.transform import PTransform

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import SCollection

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class SavingVerbs(Verbs[T_co]):
    """The verb that ends a job."""

    def save_as(
        self: "SavingVerbs[T]", name: str, sink: PTransform[PCollection[T], Any] | None = None
    ) -> "SCollection[T]":
        """Write the elements somewhere; a ``JobTest`` looks at them instead, under this name.

        Args:
            name: The output's.
            sink: What writes it where no test runs.

        Raises:
            PipelineError: There is neither a sink nor a test.

        Source: Scio ``saveAsCustomOutput``.
        """
        return here(self) | SaveAs(name, sink)
