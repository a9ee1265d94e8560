"""Builds paths, queries and bodies. A parameter that is not given is omitted; None clears a clearable field."""

from __future__ import annotations

import json
import re
from typing import Any, Final, Iterable, Mapping, final
from urllib.parse import urlencode


@final
class NotGiven:
    """Default of a parameter for which None has a meaning."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __bool__(self) -> bool:
        return False


NOT_GIVEN: Final = NotGiven()

_ID = re.compile(r"[\w-]+", re.ASCII)


def path_of(*parts: str) -> str:
    """A path with ids. An empty id would turn `GET /v1/payments/{id}` into the list."""
    for part in parts:
        if not isinstance(part, str) or not _ID.fullmatch(part):
            raise TypeError("an id must be a string of letters, digits, _ and -")
    return "/" + "/".join(parts)


def fields_of(values: Mapping[str, Any], clearable: Iterable[str] = ()) -> dict[str, Any]:
    """Omits parameters that were not given; None stays for clearable fields."""
    nullable = frozenset(clearable)
    return {
        name: value
        for name, value in values.items()
        if value is not NOT_GIVEN and (value is not None or name in nullable)
    }


def query_text(query: Mapping[str, Any]) -> str:
    """`?name=value…`."""
    pairs = [(name, _query_value(value)) for name, value in query.items()]
    return "?" + urlencode(pairs) if pairs else ""


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int)):
        raise TypeError("a filter must be a str or an int; write a datetime as value.isoformat(), with its time zone")
    return str(value)


def body_bytes(body: Mapping[str, Any]) -> bytes:
    """JSON. Raises TypeError or ValueError for values that JSON lacks: a Decimal, NaN."""
    return json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def checked_file(content: bytes, content_type: str) -> tuple[bytes, str]:
    """A raw body, instead of JSON."""
    if not isinstance(content, (bytes, bytearray)) or not re.fullmatch(r"[\w.+-]+/[\w.+-]+", content_type, re.ASCII):
        raise TypeError("a file must have bytes and a content type such as application/pdf")
    return bytes(content), content_type
