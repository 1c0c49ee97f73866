"""What a check of a contract finds wrong."""

from collections.abc import Callable
from typing import Any

from beamlike.testing.contracts.values import ContractAssertionError


def broken_by(check: Callable[..., None], *args: Any, **options: Any) -> list[str]:
    """The sentences that a check, such as `check_trigger`, fails with; none if it passes."""
    try:
        check(*args, **options)
    except ContractAssertionError as error:
        return list(error.broken)
    return []
