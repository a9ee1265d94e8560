"""Parses untrusted JSON with a depth limit, so recursive code over the results cannot overflow the stack."""

from __future__ import annotations

import json
from typing import Any, Iterable

# The API's responses have only a few levels.
_DEPTH_MAX = 100


def parse_json(body: bytes) -> Any:
    """Raises ValueError for invalid JSON, or JSON that is too deep."""
    try:
        parsed = json.loads(body)
    except RecursionError:
        raise ValueError("nested too deep") from None
    level = [parsed]
    for _ in range(_DEPTH_MAX):
        level = [inner for value in level for inner in _members_of(value)]
    if any(isinstance(value, (dict, list)) for value in level):
        raise ValueError("nested too deep")
    return parsed


def _members_of(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
