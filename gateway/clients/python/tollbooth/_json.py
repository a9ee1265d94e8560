"""JSON that somebody else wrote: parsed, and no deeper than anything of Tollbooth's is, so that neither this library nor
whoever walks over its results runs out of stack."""

from __future__ import annotations

import json
from typing import Any, Iterable

# Nothing that the API answers is deeper than a handful.
_DEPTH_MAX = 100


def parse_json(body: bytes) -> Any:
    """Raises ValueError for anything but JSON, and for what is too deep."""
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
