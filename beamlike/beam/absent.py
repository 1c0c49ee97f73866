"""What stands for a name of Beam that is not here: it fails when it is used.

A program that imports a name need not use it, so that an import alone does not fail. A class may
be derived from one, too; to call it, or to ask it for something, is refused with what to write.
"""

from abc import ABCMeta
from functools import cache
from typing import Any, Final, NoReturn

from beamlike.errors import UnsupportedError

_FILES: Final = (
    "files are read with ReadFromText(...), ReadFromParquet(...) and the like; all else with "
    "FromDataFrame(spark.read...), and it is written with WriteRows(...)"
)
_SERVICE: Final = "read and write it with Spark, see FromDataFrame(...) and WriteRows(...)"
_RUNNER: Final = 'a pipeline runs in this process, or with run(host="spark") on Spark'
_JAVA: Final = "there is no Java behind a pipeline here; write the transform in Python"
_MODEL: Final = "nothing here trains or runs models; call yours in a DoFn"
_OWN_TRIGGER: Final = "a trigger is made of those that are here"

_INSTEAD: Final = {
    "dataframe": "a DataFrame of Spark comes in with FromDataFrame(...) and out with to_data_frame",
    "examples": "the examples of Beam come with Beam",
    "io": _FILES,
    "io.debezium": _SERVICE,
    "io.gcp": _SERVICE,
    "io.jdbc": _SERVICE,
    "io.mongodbio": _SERVICE,
    "io.snowflake": _SERVICE,
    "ml": _MODEL,
    "runners": _RUNNER,
    "transforms.display": "leave it out: nothing here shows it, nor calls display_data",
    "transforms.external": _JAVA,
    "transforms.external_java": _JAVA,
    "transforms.managed": _SERVICE,
    "transforms.sql": "write the query with spark.sql(...), and read it with FromDataFrame(...)",
    "transforms.xlang": _JAVA,
    "typehints.typehints": "write the types of Python",
    "yaml": "write the pipeline in Python",
}
"""What to write instead, by the name in Beam, or by how it begins."""


class AbsentError(UnsupportedError, AttributeError):
    """A name of Beam was used that is not here."""


def instead_of(module: str, name: str) -> str:
    """What to write in place of a name of Beam; empty if nothing is known.

    Args:
        module: Where Beam defines it, without ``apache_beam.``.
        name: The name there.
    """
    parts = f"{module}.{name}".split(".")
    for length in range(len(parts), 0, -1):
        found = _INSTEAD.get(".".join(parts[:length]))
        if found is not None:
            return f"; {found}"
    return ""


class _Absent(ABCMeta):
    """The class of what is not there. It is one of ABCs, so that those may stand beside it."""

    beam_name: str
    refusal: str

    def __call__(cls, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise UnsupportedError(cls.refusal)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):  # tools of Python look for these in anything
            raise AttributeError(name)
        raise AbsentError(cls.refusal)

    def __getitem__(cls, _parameters: Any) -> Any:
        return cls

    def __repr__(cls) -> str:
        return f"<{cls.beam_name}, which is not here>"


@cache
def absent(module: str, name: str) -> Any:
    """What stands for a name of Beam that is not here.

    A class that cannot be called. What Beam calls an error is an exception, so that it can be
    caught.

    Args:
        module: Where Beam defines it, without ``apache_beam.``.
        name: The name there.
    """
    beam_name = ".".join(("apache_beam", *filter(None, (module, name))))
    bases = (Exception,) if name.endswith(("Error", "Exception", "Warning")) else ()
    refusal = f"{beam_name} is not in beamlike.beam{instead_of(module, name)}"
    body = {"__module__": __name__, "__doc__": refusal, "beam_name": beam_name, "refusal": refusal}
    return _Absent(name, bases, body)
