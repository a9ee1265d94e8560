"""What is sent: a parameter that was not given stays out, and None empties a field that can be emptied."""

from __future__ import annotations

import json
import re
from typing import Any, Final, Iterable, Mapping, final
from urllib.parse import urlencode


@final
class NotGiven:
    """The default of a parameter for which None means something."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __bool__(self) -> bool:
        return False


NOT_GIVEN: Final = NotGiven()

_ID = re.compile(r"[\w-]+", re.ASCII)


def path_of(*parts: str) -> str:
    """A path with ids in it. An empty one would turn `GET /v1/payments/{id}` into the list."""
    for part in parts:
        if not isinstance(part, str) or not _ID.fullmatch(part):
            raise TypeError("an id must be a text of letters, digits, _ and -")
    return "/" + "/".join(parts)


def given(values: Mapping[str, Any], clearable: Iterable[str] = ()) -> dict[str, Any]:
    """Without what was not given; None stays for fields that it empties."""
    keeps = frozenset(clearable)
    return {
        name: value
        for name, value in values.items()
        if value is not NOT_GIVEN and (value is not None or name in keeps)
    }


def query_text(query: Mapping[str, Any]) -> str:
    """`?name=value…`."""
    pairs = [(name, _query_value(value)) for name, value in query.items()]
    return "?" + urlencode(pairs) if pairs else ""


def _query_value(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def body_bytes(body: Mapping[str, Any]) -> bytes:
    """JSON. Raises TypeError or ValueError for what JSON does not have: a Decimal, NaN."""
    return json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def checked_file(content: bytes, content_type: str) -> tuple[bytes, str]:
    """The body itself, in place of JSON."""
    if not isinstance(content, (bytes, bytearray)) or not re.fullmatch(r"[\w.+-]+/[\w.+-]+", content_type, re.ASCII):
        raise TypeError("a file is its bytes, and its content type as application/pdf")
    return bytes(content), content_type
