"""Beam's ``apache_beam.typehints.typehints``: what is here of it."""

from typing import Any as Any
from typing import Collection as Collection
from typing import Dict as Dict
from typing import FrozenSet as FrozenSet
from typing import Iterable as Iterable
from typing import Iterator as Iterator
from typing import List as List
from typing import Optional as Optional
from typing import Sequence as Sequence
from typing import Set as Set
from typing import Tuple as Tuple
from typing import TypeVar as _TypeVariable
from typing import Union as Union

from beamlike.api.pipelines.hints import KV as KV
from beamlike.errors import TypeCheckError as _CompositeTypeHintError
from beamlike.errors import TypeCheckError as _SimpleTypeHintError

CompositeTypeHintError = _CompositeTypeHintError
"""`TypeCheckError`, by another name."""
SimpleTypeHintError = _SimpleTypeHintError
"""`TypeCheckError`, by another name."""
TypeVariable = _TypeVariable
"""`TypeVar`, by another name."""
