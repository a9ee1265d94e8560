"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Any

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given
from .._page import Page


class Event(TollboothObject):
    __slots__ = ()
    id: str
    """`evt_…`."""
    type: str
    """Event code."""
    payment_id: str | None
    """The payment that it is about; absent: none that can be read."""
    payload: dict[str, Any]
    """The body of its deliveries."""
    created_at: str
    """When it was announced."""


class EventsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        type: str | None = None,
        payment_id: str | None = None,
        timeout: float | None = None,
    ) -> Page[Event]:
        """List what happened.

        What was announced in the last 30 days, newest first, whether or not an endpoint was subscribed: what a
        server that was away reads to catch up. An event is here a moment after it happened; `test.ping` is not.
        Iterating reads page after page.
        Scope `payments:read`.

        `limit`: How many to answer at most. 1 to 200.
        `after`: Only what is older than this one: the last id of the page before.
        `from_`: Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters.
        `to`: Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters.
        `type`: Exact match. At most 64 characters.
        `payment_id`: Only those about this payment.
        """
        return self._caller.list(
            Event,
            "GET",
            "/v1/events",
            query=given(
                {
                    "limit": limit,
                    "after": after,
                    "from": from_,
                    "to": to,
                    "type": type,
                    "payment_id": payment_id,
                },
            ),
            paging="after",
            timeout=timeout,
        )
