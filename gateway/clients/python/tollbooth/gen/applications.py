"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Literal

from .._answer import TollboothObject
from .._caller import Caller
from .._given import NOT_GIVEN, NotGiven, given, path_of


class Application(TollboothObject):
    __slots__ = ()
    id: str
    """`ma_…`."""
    status: Literal["draft", "submitted", "approved", "rejected"] | str
    """`draft`, `submitted`, `approved` or `rejected`."""
    applicant_email: str | None
    """Contact e-mail."""
    legal_name: str | None
    """Registered name."""
    trading_name: str | None
    """Trading name."""
    country_code: str | None
    """ISO 3166-1 alpha-2."""
    currency_code: str | None
    """ISO 4217."""
    merchant_id: str | None
    """Once it is approved."""
    created_at: str
    """When it was created."""
    missing: list[str] | None
    """Of a draft: the fields that are still needed."""


class ApplicationsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        *,
        applicant_email: str | None = None,
        legal_name: str | None = None,
        trading_name: str | None = None,
        country_code: str | None = None,
        currency_code: str | None = None,
        timeout: float | None = None,
    ) -> Application:
        """Create a draft application.

        Any field may be left out until it is submitted. A draft that nobody submits is over after 30 days. Its id is
        the applicant's secret: whoever has it reads, changes and submits the draft.
        Without an API key.

        `applicant_email`: Contact e-mail. At most 254 characters.
        `legal_name`: At most 200 characters.
        `trading_name`: At most 100 characters.
        `country_code`: ISO 3166-1 alpha-2, any case.
        `currency_code`: ISO 4217, any case.
        """
        return self._caller.send(
            Application,
            "POST",
            "/v1/onboarding/applications",
            body=given(
                {
                    "applicant_email": applicant_email,
                    "legal_name": legal_name,
                    "trading_name": trading_name,
                    "country_code": country_code,
                    "currency_code": currency_code,
                },
            ),
            is_open=True,
            timeout=timeout,
        )

    def submit(self, application_id: str, /, *, timeout: float | None = None) -> Application:
        """Submit an application.

        All fields are needed. Submitting again answers the current state.
        Without an API key.
        """
        return self._caller.send(
            Application,
            "POST",
            path_of("v1", "onboarding", "applications", application_id, "submit"),
            is_open=True,
            timeout=timeout,
        )

    def get(self, application_id: str, /, *, timeout: float | None = None) -> Application:
        """Read an application.

        Of one that is submitted nothing but its status: whoever has the id reads it.
        Without an API key.
        """
        return self._caller.send(
            Application,
            "GET",
            path_of("v1", "onboarding", "applications", application_id),
            is_open=True,
            timeout=timeout,
        )

    def update(
        self,
        application_id: str,
        /,
        *,
        applicant_email: str | None | NotGiven = NOT_GIVEN,
        legal_name: str | None | NotGiven = NOT_GIVEN,
        trading_name: str | None | NotGiven = NOT_GIVEN,
        country_code: str | None | NotGiven = NOT_GIVEN,
        currency_code: str | None | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> Application:
        """Change a draft application.

        Absent fields stay, `None` empties one. What is submitted cannot be changed.
        Without an API key.

        `applicant_email`: Contact e-mail. At most 254 characters.
        `legal_name`: At most 200 characters.
        `trading_name`: At most 100 characters.
        `country_code`: ISO 3166-1 alpha-2, any case.
        `currency_code`: ISO 4217, any case.
        """
        return self._caller.send(
            Application,
            "PATCH",
            path_of("v1", "onboarding", "applications", application_id),
            body=given(
                {
                    "applicant_email": applicant_email,
                    "legal_name": legal_name,
                    "trading_name": trading_name,
                    "country_code": country_code,
                    "currency_code": currency_code,
                },
                (
                    "applicant_email",
                    "legal_name",
                    "trading_name",
                    "country_code",
                    "currency_code",
                ),
            ),
            is_open=True,
            timeout=timeout,
        )
