"""Where an Apex operator keeps its state, which option needs which storage, and checkpoints.

Apex asks for a storage of the windows' trigger states, one of their data, and, where earlier panes
are looked at again, one of what was fired. Each is in memory, which is copied as a whole at a
checkpoint, or spillable: on disk, with a cache and checkpoints of what changed.

There is no engine for that here. `WindowedOperator.run` keeps the state of the machine in memory,
and `OperatorRun.checkpoint` saves it as a whole. On Spark it is in the RocksDB state store, which
is what Apex calls spillable: on disk, with checkpoints of the changes. So a storage that is named
decides nothing about rows; what is checked are the rules of Apex. Apex's store of updated keys is
not asked for: without it Apex fires a value again whose withdrawal it leaves out.

Source: Apex Malhar ``AbstractWindowedOperator.validate``, ``InMemoryWindowedStorage``,
``SpillableWindowedPlainStorage``.
"""

from enum import Enum

import attrs
import cloudpickle

from beamlike.dialects.apex_words import TriggerOption
from beamlike.dialects.stages import SavedStage
from beamlike.errors import StateError, WindowingError
from beamlike.model.options import AccumulationMode


class Storage(Enum):
    """A place for state."""

    IN_MEMORY = "in_memory"
    SPILLABLE = "spillable"


@attrs.frozen
class Storages:
    """The storages of an operator; None: it has none."""

    window_state: Storage | None = Storage.IN_MEMORY
    data: Storage | None = Storage.IN_MEMORY
    retraction: Storage | None = None

    @classmethod
    def all_of(cls, storage: Storage) -> "Storages":
        """All three of one kind."""
        return cls(storage, storage, storage)

    def check(self, trigger: TriggerOption) -> None:
        """Apex's rules.

        Raises:
            WindowingError: A storage is missing that the trigger needs.
        """
        for name in ("window_state", "data"):
            if getattr(self, name) is None:
                raise WindowingError(
                    f"an operator needs storages, and Storages {name} is None; name one, "
                    "or leave storages out"
                )
        if self.retraction is not None:
            return
        retracting = trigger.mode is AccumulationMode.RETRACTING
        if retracting or trigger.only_updated:
            asks = (
                "accumulating_and_retracting_fired_panes()"
                if retracting
                else "firing_only_updated_panes()"
            )
            raise WindowingError(
                f"{asks} looks at what was fired before, and Storages retraction is None; name "
                "one, or leave storages out"
            )


@attrs.frozen
class Saved:
    """All that a run continues from: the clock of its batch and its watermark, the watermarks that
    its streams were given last, the latest event time (ms), and the state of the machine."""

    clock: int
    watermark: int | None
    given: tuple[int | None, ...]
    latest: int | None
    stage: SavedStage


def write_checkpoint(operator: str, saved: Saved) -> bytes:
    """A checkpoint of an operator, which `str` names."""
    return bytes(cloudpickle.dumps((operator, saved)))


def read_checkpoint(operator: str, checkpoint: bytes, *, unpickle: bool) -> Saved:
    """What a checkpoint says.

    Args:
        unpickle: Whether it is opened, which runs code that is in it.

    Raises:
        StateError: It is not to be opened, is none, or is of another operator.
    """
    if not unpickle:
        raise StateError(
            "a checkpoint of a run is a pickle, and opening one runs whatever code is in it; if "
            "you trust its author, call recover(checkpoint, unpickle=True)"
        )
    try:
        of, saved = cloudpickle.loads(checkpoint)
    except Exception:  # whatever broken bytes make of it
        of, saved = None, None
    if not isinstance(saved, Saved):
        raise StateError(
            "recover needs what checkpoint() of a run returned, and these bytes are something else"
        )
    if of != operator:
        raise StateError(
            f"the checkpoint is of another operator: of {of}, and this is {operator}; recover it "
            "with an operator that says the same"
        )
    return saved
