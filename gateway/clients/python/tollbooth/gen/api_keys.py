"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Literal, Sequence

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page


class ApiKey(TollboothObject):
    __slots__ = ()
    id: str
    """`ak_…`."""
    name: str
    """Label."""
    suffix: str
    """The last four characters of the key."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    scopes: list[str]
    allowed_ips: list[str] | None
    """Networks that it may be used from; absent: everywhere."""
    status: Literal["active", "expired", "revoked"] | str
    """`active`, `expired` or `revoked`."""
    created_at: str
    """When it was created."""
    expires_at: str | None
    """When it stops working; absent: never."""
    last_used_at: str | None
    """At most 60 s late; absent: never used."""


class NewApiKey(TollboothObject):
    __slots__ = ()
    api_key: str
    """The raw key; it cannot be retrieved again."""
    note: str
    """A reminder."""
    id: str
    """`ak_…`."""
    name: str
    """Label."""
    suffix: str
    """The last four characters of the key."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    scopes: list[str]
    allowed_ips: list[str] | None
    """Networks that it may be used from; absent: everywhere."""
    status: Literal["active", "expired", "revoked"] | str
    """`active`, `expired` or `revoked`."""
    created_at: str
    """When it was created."""
    expires_at: str | None
    """When it stops working; absent: never."""
    last_used_at: str | None
    """At most 60 s late; absent: never used."""


class ApiKeysResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        after: str | None = None,
        timeout: float | None = None,
    ) -> Page[ApiKey]:
        """List the API keys.

        Active ones first, then the newest first. `total` is exact, of keys of any status.
        Iterating reads page after page.
        Scope `merchant:read`.

        `limit`: How many to answer at most. 1 to 200.
        `offset`: How many to pass over.
        `after`: Only keys that come after this one; `offset` counts from there.
        """
        return self._caller.list(
            ApiKey,
            "GET",
            "/v1/merchants/me/api-keys",
            query=given({"limit": limit, "offset": offset, "after": after}),
            paging="after",
            timeout=timeout,
        )

    def create(
        self,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["payments:read", "payments:write", "merchant:read", "merchant:write"]] | None = None,
        expires_at: str | None = None,
        environment: Literal["sandbox", "live"] | None = None,
        allowed_ips: Sequence[str] | None = None,
        timeout: float | None = None,
    ) -> NewApiKey:
        """Create an API key.

        The answer holds the raw key, once. The key is of the calling key's environment, and gets no more than that
        has: a subset of its scopes and addresses, and no later an expiry (403 `forbidden` otherwise). At most 50
        keys of an environment are active.
        Scope `merchant:write`.

        `name`: At most 100 characters.
        `scopes`: Subset of the calling key's own; all of them when absent. At most 16.
        `expires_at`: RFC 3339, in the future, and not later than the calling key's own; absent: the calling key's
        own, or never. At most 40 characters.
        `environment`: The environment of the API key.
        `allowed_ips`: Live keys only: the IP addresses and networks that the key may be used from; from others it is
        403 `forbidden`. Within the calling key's own; those when absent. Without any, or empty: everywhere. A
        network is as `203.0.113.0/24`, not wider than /8 (IPv6: /16), with nothing set after its prefix. The address
        is the one that the API sees: that of your own proxy, if there is one. At most 20.
        """
        return self._caller.send(
            NewApiKey,
            "POST",
            "/v1/merchants/me/api-keys",
            body=given(
                {
                    "name": name,
                    "scopes": scopes,
                    "expires_at": expires_at,
                    "environment": environment,
                    "allowed_ips": allowed_ips,
                },
            ),
            timeout=timeout,
        )

    def limit(self, api_key_id: str, /, *, allowed_ips: Sequence[str], timeout: float | None = None) -> ApiKey:
        """Limit an API key to addresses.

        It is refused elsewhere within a second, and the change stands in the audit log. A key that is itself limited
        chooses among its own addresses, so it never widens itself; more addresses for another key need everything
        that this one has (403 `forbidden` otherwise). Only active keys can be changed. Mind your own address: a
        merchant that has shut itself out needs the operator.
        Scope `merchant:write`.

        `allowed_ips`: Live keys only: the IP addresses and networks that the key may be used from; from others it is
        403 `forbidden`. Empty: everywhere. A network is as `203.0.113.0/24`, not wider than /8 (IPv6: /16), with
        nothing set after its prefix. The address is the one that the API sees: that of your own proxy, if there is
        one. At most 20.
        """
        return self._caller.send(
            ApiKey,
            "PATCH",
            path_of("v1", "merchants", "me", "api-keys", api_key_id),
            body=given({"allowed_ips": allowed_ips}),
            timeout=timeout,
        )

    def revoke(self, api_key_id: str, /, *, timeout: float | None = None) -> None:
        """Revoke an API key.

        It stops working everywhere within a second. Any key with `merchant:write` may revoke any other one.
        Scope `merchant:write`.
        """
        return self._caller.send_for_nothing(
            "DELETE",
            path_of("v1", "merchants", "me", "api-keys", api_key_id),
            timeout=timeout,
        )

    def roll(self, api_key_id: str, /, *, expires_in: int | None = None, timeout: float | None = None) -> NewApiKey:
        """Replace an API key.

        Creates a successor with the same name, scopes, addresses and expiry; the old key works on during the
        overlap. The calling key needs every scope and address of the rolled one, and may not end before it (403
        `forbidden` otherwise). Without an overlap (`expires_in` 0) it works also when 50 keys are active.
        Scope `merchant:write`.

        `expires_in`: How long the old key goes on working, seconds. 0 to 604,800.
        """
        return self._caller.send(
            NewApiKey,
            "POST",
            path_of("v1", "merchants", "me", "api-keys", api_key_id, "roll"),
            body=given({"expires_in": expires_in}),
            timeout=timeout,
        )
