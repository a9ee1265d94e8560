"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Literal

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page


class Connector(TollboothObject):
    __slots__ = ()
    id: str
    """`mco_…`."""
    connector: str
    """Name of the connector."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    is_default: bool
    """The primary one."""
    is_active: bool
    """False: no new sessions use it."""
    can_be_primary: bool
    """False: it can never be made primary."""
    allowed_surfaces: list[str]
    default_surface: str | None
    """Used while none is selected."""
    selected_surface: str | None
    """The merchant's choice."""
    surface: str | None
    """What new sessions get."""
    external_account_id: str | None
    """The account's id at the processor."""


class ConnectorsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(self, *, timeout: float | None = None) -> Page[Connector]:
        """List the connectors.

        Your accounts at card processors in the key's environment. Never with their credentials.
        Scope `merchant:read`.
        """
        return self._caller.list(Connector, "GET", "/v1/merchants/me/connectors", paging="none", timeout=timeout)

    def update(
        self,
        connector_id: str,
        /,
        *,
        selected_surface: Literal["embedded", "hosted", "redirect"] | None = None,
        is_default: bool | None = None,
        timeout: float | None = None,
    ) -> Connector:
        """Choose the surface or make a connector primary.

        At least one field is needed.
        Scope `merchant:write`.

        `selected_surface`: One of the connector's allowed surfaces.
        `is_default`: Makes it primary in place of the other one.
        """
        return self._caller.send(
            Connector,
            "PATCH",
            path_of("v1", "merchants", "me", "connectors", connector_id),
            body=given({"selected_surface": selected_surface, "is_default": is_default}),
            timeout=timeout,
        )
