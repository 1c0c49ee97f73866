"""Type hints of Beam Python: what elements a transform takes, and what it makes of them.

Read in this order: `forms` (types in one form, in words, and of values), `declared` (hints of
functions and of transforms), `wanted` (which type may stand for which, and what a transform is
given, against what it takes).

Hints may be types of Python, generics and those of `typing`. What is declared for a transform is
checked when it is applied, unless the option ``pipeline_type_check`` is off.
"""
