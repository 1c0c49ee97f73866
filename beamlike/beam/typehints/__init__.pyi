"""Beam's ``apache_beam.typehints``: what is here of it."""

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
from beamlike.api.pipelines.hints import WithTypeHints as WithTypeHints
from beamlike.api.pipelines.hints import with_input_types as with_input_types
from beamlike.api.pipelines.hints import with_output_types as with_output_types
from beamlike.beam.typehints import decorators as decorators
from beamlike.beam.typehints import typehints as typehints
from beamlike.errors import TypeCheckError as TypeCheckError

TypeVariable = _TypeVariable
"""`TypeVar`, by another name."""
