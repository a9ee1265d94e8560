"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Literal

from .._answer import TollboothObject
from .._caller import Caller
from .._given import NOT_GIVEN, NotGiven, given


class Branding(TollboothObject):
    __slots__ = ()
    display_name: str | None
    """Name on the page."""
    tagline: str | None
    """Line under the name."""
    logo_url: str | None
    """https URL of the logo."""
    accent_color: str | None
    """`#rrggbb`."""
    secondary_color: str | None
    """`#rrggbb`."""
    support_email: str | None
    """For buyers' questions."""
    button_style: Literal["rounded", "pill", "rectangular"] | str | None
    """`rounded`, `pill` or `rectangular`."""
    background_style: Literal["subtle", "plain", "gradient", "solid"] | str | None
    """`subtle`, `plain`, `gradient` or `solid`."""
    theme: Literal["light", "dark", "auto"] | str | None
    """`light`, `dark` or `auto`."""
    font_family: Literal[
        "inter", "system", "roboto", "open_sans", "lato", "montserrat", "nunito", "source_sans_pro", "noto_sans",
        "noto_serif",
    ] | str | None
    """`inter`, `system`, `roboto`, `open_sans`, `lato`, `montserrat`, `nunito`, `source_sans_pro`, `noto_sans` or
    `noto_serif`.
    """
    terms_url: str | None
    """https URL of the terms, linked on the hosted page."""
    privacy_url: str | None
    """https URL of the privacy notice, linked on the hosted page."""
    email_field: Literal["hidden", "optional", "required"] | str | None
    """Whether the hosted page asks for the buyer's e-mail: `hidden`, `optional` or `required`."""
    email_receipts: Literal["off", "on"] | str | None
    """Whether buyers get receipts by e-mail: `off` or `on`."""


class Merchant(TollboothObject):
    __slots__ = ()
    id: str
    """`mer_…`."""
    name: str
    """Trading name."""
    status: Literal["pending", "active", "suspended", "closed"] | str
    """`pending`, `active`, `suspended` or `closed`."""
    country_code: str
    """ISO 3166-1 alpha-2."""
    currency_code: str
    """ISO 4217."""
    email: str
    """Contact e-mail."""


class MerchantProfile(TollboothObject):
    __slots__ = ()
    id: str
    """`mer_…`."""
    name: str
    """Trading name."""
    legal_name: str | None
    """Registered name."""
    status: Literal["pending", "active", "suspended", "closed"] | str
    """`pending`, `active`, `suspended` or `closed`."""
    country: str
    """ISO 3166-1 alpha-2."""
    currency: str
    """ISO 4217."""
    email: str
    """Contact e-mail."""
    phone: str | None
    """E.164."""
    website: str | None
    """https URL."""


class MerchantResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get(self, *, timeout: float | None = None) -> Merchant:
        """Read the merchant.

        With the profile of the key's environment.
        Scope `merchant:read`.
        """
        return self._caller.send(Merchant, "GET", "/v1/merchants/me", timeout=timeout)

    def update_profile(
        self,
        *,
        name: str | None = None,
        legal_name: str | None | NotGiven = NOT_GIVEN,
        email: str | None = None,
        phone: str | None | NotGiven = NOT_GIVEN,
        website: str | None | NotGiven = NOT_GIVEN,
        country: str | None = None,
        currency: str | None = None,
        timeout: float | None = None,
    ) -> MerchantProfile:
        """Change the profile.

        Absent fields stay; `None` clears legal_name, phone or website. `country` and `currency` cannot be changed:
        the merchant's own are taken, others refused. Each environment has a profile of its own: a sandbox key
        changes nothing that live buyers see.
        Scope `merchant:write`.

        `name`: At most 100 characters.
        `legal_name`: At most 200 characters.
        `email`: Contact e-mail. At most 254 characters.
        `phone`: E.164.
        `website`: https URL. At most 2,048 characters.
        `country`: ISO 3166-1 alpha-2; the merchant's own.
        `currency`: ISO 4217; the merchant's own.
        """
        return self._caller.send(
            MerchantProfile,
            "PATCH",
            "/v1/merchants/me/profile",
            body=given(
                {
                    "name": name,
                    "legal_name": legal_name,
                    "email": email,
                    "phone": phone,
                    "website": website,
                    "country": country,
                    "currency": currency,
                },
                (
                    "legal_name",
                    "phone",
                    "website",
                ),
            ),
            timeout=timeout,
        )

    def get_branding(self, *, timeout: float | None = None) -> Branding:
        """Read the checkout branding.

        As buyers see it in the key's environment.
        Scope `merchant:read`.
        """
        return self._caller.send(Branding, "GET", "/v1/merchants/me/branding", timeout=timeout)

    def update_branding(
        self,
        *,
        display_name: str | None | NotGiven = NOT_GIVEN,
        tagline: str | None | NotGiven = NOT_GIVEN,
        logo_url: str | None | NotGiven = NOT_GIVEN,
        accent_color: str | None | NotGiven = NOT_GIVEN,
        secondary_color: str | None | NotGiven = NOT_GIVEN,
        support_email: str | None | NotGiven = NOT_GIVEN,
        button_style: Literal["rounded", "pill", "rectangular"] | None = None,
        background_style: Literal["subtle", "plain", "gradient", "solid"] | None = None,
        theme: Literal["light", "dark", "auto"] | None = None,
        font_family: Literal[
            "inter", "system", "roboto", "open_sans", "lato", "montserrat", "nunito", "source_sans_pro", "noto_sans",
            "noto_serif",
        ] | None = None,
        terms_url: str | None | NotGiven = NOT_GIVEN,
        privacy_url: str | None | NotGiven = NOT_GIVEN,
        email_field: Literal["hidden", "optional", "required"] | None = None,
        email_receipts: Literal["off", "on"] | None = None,
        timeout: float | None = None,
    ) -> Branding:
        """Change the checkout branding.

        Absent fields stay; `None` clears a name, text, address or colour. Each environment has a branding of its
        own: a sandbox key changes nothing that live buyers see.
        Scope `merchant:write`.

        `display_name`: At most 100 characters.
        `tagline`: At most 140 characters.
        `logo_url`: https URL. At most 2,048 characters.
        `accent_color`: Accent, `#rrggbb`.
        `secondary_color`: Second colour, `#rrggbb`.
        `support_email`: At most 254 characters.
        `button_style`: Buttons.
        `background_style`: Background.
        `theme`: Theme.
        `font_family`: Font.
        `terms_url`: https URL of the terms. At most 2,048 characters.
        `privacy_url`: https URL of the privacy notice. At most 2,048 characters.
        `email_field`: Whether the hosted page asks for the buyer's e-mail, where you gave none.
        `email_receipts`: Whether buyers get receipts by e-mail.
        """
        return self._caller.send(
            Branding,
            "PATCH",
            "/v1/merchants/me/branding",
            body=given(
                {
                    "display_name": display_name,
                    "tagline": tagline,
                    "logo_url": logo_url,
                    "accent_color": accent_color,
                    "secondary_color": secondary_color,
                    "support_email": support_email,
                    "button_style": button_style,
                    "background_style": background_style,
                    "theme": theme,
                    "font_family": font_family,
                    "terms_url": terms_url,
                    "privacy_url": privacy_url,
                    "email_field": email_field,
                    "email_receipts": email_receipts,
                },
                (
                    "display_name",
                    "tagline",
                    "logo_url",
                    "accent_color",
                    "secondary_color",
                    "support_email",
                    "terms_url",
                    "privacy_url",
                ),
            ),
            timeout=timeout,
        )
