"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Literal

from .._answer import TollboothObject
from .._caller import Caller
from .._page import Page


class EventType(TollboothObject):
    __slots__ = ()
    code: str
    """What endpoints subscribe to."""
    label: str
    """For people."""
    category: Literal["checkout", "dispute", "payment", "refund", "test"] | str
    """`checkout`, `dispute`, `payment`, `refund` or `test`."""


class EventTypesResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(self, *, timeout: float | None = None) -> Page[EventType]:
        """List the event types.

        The authoritative catalogue of codes that can be subscribed to.
        Scope `merchant:read`.
        """
        return self._caller.list(EventType, "GET", "/v1/merchants/me/event-types", paging="none", timeout=timeout)
