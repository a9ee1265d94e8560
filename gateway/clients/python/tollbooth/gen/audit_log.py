"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Literal

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given
from .._page import Page


class AuditEntry(TollboothObject):
    __slots__ = ()
    id: str
    """`evt_…`."""
    at: str
    """When it was done."""
    environment: Literal["sandbox", "live"] | str | None
    """`sandbox` or `live`; absent: both."""
    actor: str | None
    """`ak_…` of the API key, or `operator`; absent: the service by itself."""
    action: str
    """What was done, e.g. `api_key.created`, `endpoint.deleted`, `refund.requested`."""
    object_id: str | None
    """What it was done to."""
    status: str | None
    """The object's status after it."""
    request_id: str | None
    """The request that did it."""
    details: dict[str, str]
    """Further facts, e.g. `payment_id` and `amount` of a refund. Never a secret."""


class AuditLogResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        action: str | None = None,
        object_id: str | None = None,
        actor: str | None = None,
        timeout: float | None = None,
    ) -> Page[AuditEntry]:
        """List who did what.

        Administrative acts on keys, endpoints, connectors, profile, branding and refunds, newest first: of the key's
        environment, and what concerns both. An act is here a moment after it was done.
        Iterating reads page after page.
        Scope `merchant:read`.

        `limit`: How many to answer at most. 1 to 200.
        `after`: Only what is older than this one: the last id of the page before.
        `from_`: Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters.
        `to`: Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters.
        `action`: Exact match. At most 64 characters.
        `object_id`: Only what was done to this object. At most 64 characters.
        `actor`: Only what this API key, or `operator`, did. At most 64 characters.
        """
        return self._caller.list(
            AuditEntry,
            "GET",
            "/v1/merchants/me/audit-log",
            query=given(
                {
                    "limit": limit,
                    "after": after,
                    "from": from_,
                    "to": to,
                    "action": action,
                    "object_id": object_id,
                    "actor": actor,
                },
            ),
            paging="after",
            timeout=timeout,
        )
