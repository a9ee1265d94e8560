"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import ClassVar, Literal, Mapping, Sequence, TypedDict

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page


class NewLineItem(TypedDict):
    name: str
    """At most 200 characters."""
    quantity: int
    """1 to 9,999."""
    amount: int
    """Of the whole line, in minor units; negative for a discount. -99,999,999 to 99,999,999."""


class LineItem(TollboothObject):
    __slots__ = ()
    name: str
    """What is bought."""
    quantity: int
    amount: int
    """Of the whole line, in minor units; negative for a discount."""


class CheckoutSession(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {"line_items": LineItem}
    id: str
    """`cs_…`."""
    connector: str
    """Name of the connector."""
    surface: Literal["embedded", "hosted", "redirect"] | str
    """`embedded`, `hosted` or `redirect`."""
    amount: int
    """What is asked for, minor units."""
    currency: str
    """ISO 4217, upper case."""
    status: Literal["open", "processing", "completed", "expired", "canceled"] | str
    """State of the session."""
    capture_method: Literal["automatic", "manual"] | str
    """`manual`: the payment is authorized, and you capture it later."""
    expires_at: str
    """When an unpaid session expires."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    description: str | None
    """The caller's words."""
    reference: str | None
    """Your own order number."""
    customer_email: str | None
    """The buyer's e-mail."""
    metadata: dict[str, str] | None
    """Up to 50 names of 1 to 40 characters with text values of up to 500."""
    payment_id: str | None
    """Its payment; absent until that can be read."""
    payment_status: str | None
    """The payment's status, once an attempt was seen."""
    captured_amount: int | None
    """What was taken, minor units, as of `payment_status`: 0 of a `succeeded` payment that is only authorized."""
    receipt_url: str | None
    """The processor's receipt page."""
    success_url: str | None
    """Where the hosted page sends the buyer after success."""
    cancel_url: str | None
    """Where the hosted page sends the buyer who gives up."""
    locale: str | None
    """BCP 47 tag."""
    line_items: list[LineItem] | None
    """What is bought; not in lists of sessions."""
    created_at: str
    """When it was created."""
    completed_at: str | None
    """When it was completed."""


class Render(TollboothObject):
    """What the browser needs to mount the processor's surface."""

    __slots__ = ()
    kind: Literal["element", "frame", "redirect"] | str
    """How the processor's surface is mounted: `element`, `frame` or `redirect`."""
    connector: str
    """Name of the connector."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    publishable_key: str | None
    """The processor's public key."""
    client_secret: str | None
    """The processor's secret of this one intent, made for the buyer's browser."""
    script_url: str | None
    """The processor's script, for kind `element`."""
    frame_url: str | None
    """The processor's page for an iframe, for kind `frame`."""
    redirect_url: str | None
    """The processor's page to send the buyer to, for kind `redirect`."""


class CreatedCheckoutSession(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {"render": Render}
    id: str
    """`cs_…`."""
    connector: str
    """Name of the connector."""
    surface: Literal["embedded", "hosted", "redirect"] | str
    """`embedded`, `hosted` or `redirect`."""
    amount: int
    """What is asked for, minor units."""
    currency: str
    """ISO 4217, upper case."""
    status: Literal["open", "processing", "completed", "expired", "canceled"] | str
    """State of the session."""
    capture_method: Literal["automatic", "manual"] | str
    """`manual`: the payment is authorized, and you capture it later."""
    expires_at: str
    """When an unpaid session expires."""
    session_secret: str
    """Secret of this one session; the only credential for the buyer's browser."""
    render: Render
    checkout_url: str | None
    """The hosted page with the session secret in its fragment; only with a configured origin."""


class CheckoutSessionsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        *,
        amount: int,
        currency: str,
        description: str | None = None,
        reference: str | None = None,
        customer_email: str | None = None,
        metadata: Mapping[str, str] | None = None,
        capture_method: Literal["automatic", "manual"] | None = None,
        success_url: str | None = None,
        cancel_url: str | None = None,
        expires_in: int | None = None,
        locale: str | None = None,
        line_items: Sequence[NewLineItem] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> CreatedCheckoutSession:
        """Create a checkout session.

        Also creates a payment intent at the merchant's active connector.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `payments:write`.

        `amount`: Minor units: 1050 means 10.50. 1 to 99,999,999.
        `currency`: ISO 4217, any case.
        `description`: At most 255 characters.
        `reference`: Your own order number; need not be unique. Lists find it by its beginning. At most 100
        characters.
        `customer_email`: The buyer's e-mail. At most 254 characters.
        `metadata`: Up to 50 names of 1 to 40 characters with text values of up to 500.
        `capture_method`: `automatic` when absent. `manual`: the payment is authorized, and you capture it, whole or
        in part, before `capture_before`.
        `success_url`: Where the hosted page sends the buyer after success: https; in sandbox also http to localhost.
        At most 2,048 characters.
        `cancel_url`: Where the hosted page sends the buyer who gives up; as success_url. At most 2,048 characters.
        `expires_in`: Seconds, up to 30 days; 86,400 when absent. 300 to 2,592,000.
        `locale`: BCP 47 tag, with hyphens. At most 35 characters.
        `line_items`: What is bought, for the buyer to see; the lines sum to `amount`. At most 100.
        """
        return self._caller.send(
            CreatedCheckoutSession,
            "POST",
            "/v1/checkout-sessions",
            body=given(
                {
                    "amount": amount,
                    "currency": currency,
                    "description": description,
                    "reference": reference,
                    "customer_email": customer_email,
                    "metadata": metadata,
                    "capture_method": capture_method,
                    "success_url": success_url,
                    "cancel_url": cancel_url,
                    "expires_in": expires_in,
                    "locale": locale,
                    "line_items": line_items,
                },
            ),
            is_idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        after: str | None = None,
        status: Literal["open", "processing", "completed", "expired", "canceled"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        reference: str | None = None,
        customer_email: str | None = None,
        q: str | None = None,
        timeout: float | None = None,
    ) -> Page[CheckoutSession]:
        """List checkout sessions.

        Newest first.
        Iterating reads page after page.
        Scope `payments:read`.

        `limit`: How many to answer at most. 1 to 200.
        `offset`: How many to pass over.
        `after`: Only those that follow this one: pages by the last id of the page before repeat and miss nothing,
        whatever is created meanwhile. Without `offset`.
        `status`: Only this status.
        `from_`: Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters.
        `to`: Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters.
        `reference`: Your order number, exactly. At most 100 characters.
        `customer_email`: Exact, any case. At most 254 characters.
        `q`: The id of a session or of its payment, whole or as buyers quote it (the prefix and at least 14
        characters), or the beginning of its reference or of its e-mail (any case). At most 254 characters.
        """
        return self._caller.list(
            CheckoutSession,
            "GET",
            "/v1/checkout-sessions",
            query=given(
                {
                    "limit": limit,
                    "offset": offset,
                    "after": after,
                    "status": status,
                    "from": from_,
                    "to": to,
                    "reference": reference,
                    "customer_email": customer_email,
                    "q": q,
                },
            ),
            paging="after",
            timeout=timeout,
        )

    def get(self, checkout_session_id: str, /, *, timeout: float | None = None) -> CheckoutSession:
        """Read a checkout session.

        With its line items, never with its secret. It names a payment once that can be read.
        Scope `payments:read`.
        """
        return self._caller.send(
            CheckoutSession,
            "GET",
            path_of("v1", "checkout-sessions", checkout_session_id),
            timeout=timeout,
        )

    def expire(self, checkout_session_id: str, /, *, timeout: float | None = None) -> CheckoutSession:
        """Expire a checkout session now.

        The processor is asked first: a session that is paid completes instead.
        Scope `payments:write`.
        """
        return self._caller.send(
            CheckoutSession,
            "POST",
            path_of("v1", "checkout-sessions", checkout_session_id, "expire"),
            timeout=timeout,
        )
