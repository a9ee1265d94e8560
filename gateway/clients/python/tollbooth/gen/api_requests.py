"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page


class ApiRequest(TollboothObject):
    __slots__ = ()
    id: str
    """The answer's `Request-Id`."""
    at: str
    """When it came in."""
    method: str
    """HTTP method."""
    path: str
    """Its path, without the query."""
    status: int
    """HTTP status."""
    error_code: str | None
    """Of the error, if it was one."""
    duration_ms: int
    """Milliseconds to the end of the answer."""
    api_key_id: str | None
    """The key; absent without a valid one."""


class ApiRequestsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        api_key_id: str | None = None,
        min_status: int | None = None,
        timeout: float | None = None,
    ) -> Page[ApiRequest]:
        """List API requests.

        The requests of the key's environment in the last 30 days, newest first; without queries and bodies. A
        request is here within two seconds.
        Iterating reads page after page.
        Scope `merchant:read`.

        `limit`: How many to answer at most. 1 to 200.
        `after`: Only what is older than this one: the last id of the page before.
        `from_`: Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters.
        `to`: Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters.
        `api_key_id`: Only those of this key.
        `min_status`: Only HTTP statuses from this one on: 400 for all errors. 100 to 599.
        """
        return self._caller.list(
            ApiRequest,
            "GET",
            "/v1/merchants/me/requests",
            query=given(
                {
                    "limit": limit,
                    "after": after,
                    "from": from_,
                    "to": to,
                    "api_key_id": api_key_id,
                    "min_status": min_status,
                },
            ),
            paging="after",
            timeout=timeout,
        )

    def get(self, api_request_id: str, /, *, timeout: float | None = None) -> ApiRequest:
        """Read an API request.

        By the `Request-Id` that its answer carried.
        Scope `merchant:read`.
        """
        return self._caller.send(
            ApiRequest,
            "GET",
            path_of("v1", "merchants", "me", "requests", api_request_id),
            timeout=timeout,
        )
