"""What only Beam's own SDK has."""

from typing import Any, NoReturn

from beamlike.errors import UnsupportedError


def needs_beams_sdk(name: str) -> UnsupportedError:
    """The refusal of a name of Beam, with the way to use it."""
    return UnsupportedError(
        f'{name} is for Beam\'s own SDK; install "beamlike[beam]", import apache_beam, and run '
        "the pipeline with --runner=beamlike.BeamlikeRunner"
    )


class OfBeamsSDK:
    """A method that only Beam's own SDK has: calling it is refused, with the way to use it.

    Args:
        name: What a program calls, such as ``"Pipeline.visit"``.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise needs_beams_sdk(self.name)


def without_beams_own(owner: str, arguments: dict[str, Any], *names: str) -> dict[str, Any]:
    """The arguments by name, if none of them is one that only Beam's own SDK takes.

    Args:
        owner: What is given them, for the message.
        arguments: By name; None is as if one was left out.
        names: Those of Beam's own SDK.

    Raises:
        UnsupportedError: One of them is given.
    """
    for name in names:
        if arguments.pop(name, None) is not None:
            raise needs_beams_sdk(f"{owner}({name}=...)")
    return arguments
