"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Mapping

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page


class AttemptCard(TollboothObject):
    __slots__ = ()
    brand: str
    """Card brand."""
    last4: str
    """The last four digits."""


class Card(TollboothObject):
    __slots__ = ()
    brand: str | None
    """Card brand."""
    last4: str | None
    """The last four digits."""
    funding: Literal["credit", "debit", "prepaid"] | str | None
    """`credit`, `debit` or `prepaid`."""
    fingerprint: str | None
    """The same for the same card number."""
    exp_month: int
    exp_year: int


class CardSummary(TollboothObject):
    __slots__ = ()
    brand: str | None
    """Card brand."""
    last4: str | None
    """The last four digits."""
    funding: Literal["credit", "debit", "prepaid"] | str | None
    """`credit`, `debit` or `prepaid`."""


class Dispute(TollboothObject):
    __slots__ = ()
    id: str
    """`dp_…`."""
    connector_dispute_id: str | None
    """The dispute's id at the processor."""
    reason: str | None
    """The processor's reason."""
    status: Literal[
        "warning_needs_response", "warning_under_review", "warning_closed", "needs_response", "under_review", "won",
        "lost",
    ] | str
    """`warning_needs_response`, `warning_under_review`, `warning_closed`, `needs_response`, `under_review`, `won` or
    `lost`.
    """
    amount: int
    """Minor units."""
    opened_at: str | None
    """When it was opened."""
    evidence_due_at: str | None
    """Until when evidence can be sent; absent: not at all, or not told."""
    outcome: Literal["won", "lost"] | str | None
    """`won` or `lost`; absent: not decided."""


class Verification(TollboothObject):
    __slots__ = ()
    avs_line1: Literal["pass", "fail", "unavailable", "unchecked"] | str | None
    """`pass`, `fail`, `unavailable` or `unchecked`."""
    avs_zip: str | None
    """As avs_line1."""
    cvc_check: str | None
    """As avs_line1."""
    three_ds_result: str | None
    """Result of 3-D Secure."""
    three_ds_version: str | None
    """Version of 3-D Secure."""
    risk_level: Literal["normal", "elevated", "highest", "not_assessed"] | str | None
    """`normal`, `elevated`, `highest` or `not_assessed`."""
    risk_score: int
    """0 to 100."""


class Refund(TollboothObject):
    __slots__ = ()
    id: str
    """`re_…`."""
    amount: int
    """Minor units."""
    status: Literal["pending", "succeeded", "failed", "canceled"] | str
    """`pending`, `succeeded`, `failed` or `canceled`."""
    connector_ref: str | None
    """The refund's id at the processor."""
    reason: str | None
    """The caller's words."""
    failure_code: str | None
    """The processor's code, when it failed."""
    failure_message: str | None
    """The processor's words, when it failed."""
    created_at: str
    """When it was created."""


class PaymentFailure(TollboothObject):
    __slots__ = ()
    code: Literal[
        "card_declined", "insufficient_funds", "expired_card", "incorrect_cvc", "incorrect_number", "processing_error",
        "authentication_failed", "authentication_required", "blocked", "lost_or_stolen", "card_not_supported",
        "currency_not_supported", "limit_exceeded", "duplicate", "canceled_by_buyer", "expired", "not_processed",
        "returned", "unknown",
    ] | str
    """`card_declined`, `insufficient_funds`, `expired_card`, `incorrect_cvc`, `incorrect_number`, `processing_error`,
    `authentication_failed`, `authentication_required`, `blocked`, `lost_or_stolen`, `card_not_supported`,
    `currency_not_supported`, `limit_exceeded`, `duplicate`, `canceled_by_buyer`, `expired`, `not_processed`,
    `returned` or `unknown`. Expect further ones.
    """
    message: str
    """The processor's words, for you and not for the buyer."""
    advice: Literal["retry_later", "use_another_card", "contact_issuer", "do_not_retry"] | str
    """`retry_later`, `use_another_card`, `contact_issuer` or `do_not_retry`. `retry_later`: the same card may be taken,
    at once when something was typed wrong; `contact_issuer`: the buyer asks the bank.
    """


class PaymentAttempt(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {"card": AttemptCard}
    id: str | None
    """The attempt's id at the processor; absent: it never came to be there."""
    outcome: Literal["succeeded", "failed"] | str
    """`succeeded` or `failed`."""
    failure_code: Literal[
        "card_declined", "insufficient_funds", "expired_card", "incorrect_cvc", "incorrect_number", "processing_error",
        "authentication_failed", "authentication_required", "blocked", "lost_or_stolen", "card_not_supported",
        "currency_not_supported", "limit_exceeded", "duplicate", "canceled_by_buyer", "expired", "not_processed",
        "returned", "unknown",
    ] | str | None
    """`card_declined`, `insufficient_funds`, `expired_card`, `incorrect_cvc`, `incorrect_number`, `processing_error`,
    `authentication_failed`, `authentication_required`, `blocked`, `lost_or_stolen`, `card_not_supported`,
    `currency_not_supported`, `limit_exceeded`, `duplicate`, `canceled_by_buyer`, `expired`, `not_processed`,
    `returned` or `unknown`. Expect further ones.
    """
    failure_message: str | None
    """The processor's words."""
    card: AttemptCard | None
    three_ds_result: str | None
    """Result of 3-D Secure."""
    created_at: str
    """When it began."""


class Payment(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {
        "card": Card,
        "verification": Verification,
        "refunds": Refund,
        "dispute": Dispute,
        "failure": PaymentFailure,
        "attempts": PaymentAttempt,
    }
    id: str
    """`pay_…`."""
    amount: int
    """What was asked for, minor units; `captured_amount` says what was taken."""
    captured_amount: int
    """What was taken, minor units. 0 of a `succeeded` payment: it is authorized, and nothing is taken yet."""
    fee_amount: int
    """Our fee, minor units; kept on refund."""
    refunded_amount: int
    """Pending and succeeded refunds, minor units."""
    net_amount: int
    """captured_amount − refunded_amount − fee_amount − lost disputes, minor units; 0 while nothing is captured."""
    currency: str
    """ISO 4217, upper case."""
    status: Literal[
        "pending", "requires_action", "processing", "succeeded", "failed", "canceled", "partially_refunded", "refunded",
        "disputed",
    ] | str
    """`pending`, `requires_action`, `processing`, `succeeded`, `failed`, `canceled`, `partially_refunded`, `refunded`
    or `disputed`.
    """
    connector_ref: str | None
    """The payment's id at the processor."""
    connector: str | None
    """Name of the connector."""
    description: str | None
    """The caller's words."""
    reference: str | None
    """Your own order number."""
    customer_email: str | None
    """The buyer's e-mail."""
    authorization_code: str | None
    """The issuer's code."""
    receipt_url: str | None
    """The processor's receipt page."""
    authorized_at: str | None
    """When the issuer authorized it."""
    capture_method: Literal["automatic", "manual"] | str
    """`manual`: captured by you, with the capture operation."""
    capture_before: str | None
    """While it is authorized and not captured: until when it can be captured; then it is canceled."""
    captured_at: str | None
    """When it was captured."""
    failed_at: str | None
    """When the last attempt failed."""
    created_at: str
    """When it was created."""
    card: Card | None
    verification: Verification | None
    refunds: list[Refund]
    dispute: Dispute | None
    failure: PaymentFailure | None
    attempts: list[PaymentAttempt]
    """Those that have ended, oldest first."""
    metadata: dict[str, str] | None
    """Up to 50 names of 1 to 40 characters with text values of up to 500."""


class PaymentItem(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {"card": CardSummary}
    id: str
    """`pay_…`."""
    amount: int
    """What was asked for, minor units; `captured_amount` says what was taken."""
    captured_amount: int
    """What was taken, minor units. 0 of a `succeeded` payment: it is authorized, and nothing is taken yet."""
    currency: str
    """ISO 4217, upper case."""
    status: Literal[
        "pending", "requires_action", "processing", "succeeded", "failed", "canceled", "partially_refunded", "refunded",
        "disputed",
    ] | str
    """`pending`, `requires_action`, `processing`, `succeeded`, `failed`, `canceled`, `partially_refunded`, `refunded`
    or `disputed`.
    """
    fee_amount: int
    """Our fee, minor units."""
    refunded_amount: int
    """Pending and succeeded refunds, minor units."""
    customer_email: str | None
    """The buyer's e-mail."""
    connector: str | None
    """Name of the connector."""
    card: CardSummary | None
    created_at: str
    """When it was created."""


class PaymentWebhookDelivery(TollboothObject):
    __slots__ = ()
    id: str
    """`whd_…`."""
    event_type: str
    """Event code."""
    attempts: int
    """Attempts made since it was queued."""
    delivered: bool
    """A 2xx came back."""
    failed: bool
    """Attempts are exhausted."""
    status_code: int
    """The last attempt's HTTP status; 0: none came back."""
    last_error: str | None
    """Why the last attempt failed."""
    next_attempt_at: str | None
    """Only while pending."""
    payload: dict[str, Any]
    """The body that is sent."""
    created_at: str
    """When it was queued."""
    endpoint_id: str
    """Where it goes."""


class RefundItem(TollboothObject):
    __slots__ = ()
    id: str
    """`re_…`."""
    amount: int
    """Minor units."""
    status: Literal["pending", "succeeded", "failed", "canceled"] | str
    """`pending`, `succeeded`, `failed` or `canceled`."""
    connector_ref: str | None
    """The refund's id at the processor."""
    reason: str | None
    """The caller's words."""
    failure_code: str | None
    """The processor's code, when it failed."""
    failure_message: str | None
    """The processor's words, when it failed."""
    created_at: str
    """When it was created."""
    payment_id: str
    """`pay_…`."""
    currency: str
    """ISO 4217, upper case."""


class PaymentsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        *,
        amount: int,
        currency: str,
        payment_method: str,
        description: str | None = None,
        reference: str | None = None,
        customer_email: str | None = None,
        metadata: Mapping[str, str] | None = None,
        capture_method: Literal["automatic", "manual"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Payment:
        """Create a payment without a checkout session.

        Charges a card that the processor has, by its token, while the buyer is absent. `status` tells how it went:
        `succeeded`; `failed`, also for a card that asks for 3-D Secure (use a checkout session for those);
        `processing` or `pending` while the processor has not said, then a webhook tells the end. `connector_error`
        (502) is answered only if surely nothing was sent to the processor; whatever may have reached it is a 201. A
        payment that turns out never to have come to be ends `failed` with the failure code `not_processed`, and
        `payment.failed` is delivered.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `payments:write`.

        `amount`: Minor units: 1050 means 10.50. 1 to 99,999,999.
        `currency`: ISO 4217, any case.
        `payment_method`: The processor's token of a card. The buyer's browser gets it from the processor: card data
        never comes here.
        `description`: At most 255 characters.
        `reference`: Your own order number; need not be unique. Lists find it by its beginning. At most 100
        characters.
        `customer_email`: The buyer's e-mail. At most 254 characters.
        `metadata`: Up to 50 names of 1 to 40 characters with text values of up to 500.
        `capture_method`: `automatic` when absent. `manual`: the payment is authorized, and you capture it, whole or
        in part, before `capture_before`.
        """
        return self._caller.send(
            Payment,
            "POST",
            "/v1/payments",
            body=given(
                {
                    "amount": amount,
                    "currency": currency,
                    "payment_method": payment_method,
                    "description": description,
                    "reference": reference,
                    "customer_email": customer_email,
                    "metadata": metadata,
                    "capture_method": capture_method,
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
        status: Literal[
            "pending", "requires_action", "processing", "succeeded", "failed", "canceled", "partially_refunded",
            "refunded", "disputed",
        ] | str | None = None,
        from_: str | None = None,
        to: str | None = None,
        q: str | None = None,
        min_amount: int | None = None,
        max_amount: int | None = None,
        reference: str | None = None,
        currency: str | None = None,
        connector: str | None = None,
        captured_from: str | None = None,
        captured_to: str | None = None,
        timeout: float | None = None,
    ) -> Page[PaymentItem]:
        """List payments.

        Newest first. `total` is exact within the filters.
        Iterating reads page after page.
        Scope `payments:read`.

        `limit`: How many to answer at most. 1 to 200.
        `offset`: How many to pass over.
        `after`: Only those that follow this one: pages by the last id of the page before repeat and miss nothing,
        whatever is created meanwhile. Without `offset`.
        `status`: Exact match: `pending`, `requires_action`, `processing`, `succeeded`, `failed`, `canceled`,
        `partially_refunded`, `refunded` or `disputed`. At most 32 characters.
        `from_`: Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters.
        `to`: Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters.
        `q`: Payment id (exact or prefix), part of an e-mail (any case), the last four digits, or the beginning of a
        reference. At most 254 characters.
        `min_amount`: Minor units.
        `max_amount`: Minor units.
        `reference`: Your order number, exactly. At most 100 characters.
        `currency`: ISO 4217, any case.
        `connector`: Name of the connector, exactly. At most 64 characters.
        `captured_from`: Captured at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40
        characters.
        `captured_to`: Captured before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40
        characters.
        """
        return self._caller.list(
            PaymentItem,
            "GET",
            "/v1/payments",
            query=given(
                {
                    "limit": limit,
                    "offset": offset,
                    "after": after,
                    "status": status,
                    "from": from_,
                    "to": to,
                    "q": q,
                    "min_amount": min_amount,
                    "max_amount": max_amount,
                    "reference": reference,
                    "currency": currency,
                    "connector": connector,
                    "captured_from": captured_from,
                    "captured_to": captured_to,
                },
            ),
            paging="after",
            timeout=timeout,
        )

    def capture(
        self,
        payment_id: str,
        /,
        *,
        amount: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Payment:
        """Capture a payment.

        Takes what is authorized of a payment with `capture_method` `manual`: all of it, or a part, which releases
        the rest; once, and before `capture_before`. The body may be empty. While the processor has not said, the
        answer is the payment without `captured_at`, and `authorization.captured` tells the end.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `payments:write`.

        `amount`: Minor units; absent: all that is authorized. A part releases the rest.
        """
        return self._caller.send(
            Payment,
            "POST",
            path_of("v1", "payments", payment_id, "capture"),
            body=given({"amount": amount}),
            is_idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def cancel(
        self,
        payment_id: str,
        /,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Payment:
        """Cancel a payment.

        Releases an authorization that is not captured, or ends a payment that is not paid; its buyer can pay it no
        more. One that is canceled already is answered as it is. While the processor has not said, the answer is the
        payment as it is, and `authorization.canceled` tells the end of an authorization.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `payments:write`.
        """
        return self._caller.send(
            Payment,
            "POST",
            path_of("v1", "payments", payment_id, "cancel"),
            is_idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def get(self, payment_id: str, /, *, timeout: float | None = None) -> Payment:
        """Read a payment.

        The full record with refunds and dispute.
        Scope `payments:read`.
        """
        return self._caller.send(Payment, "GET", path_of("v1", "payments", payment_id), timeout=timeout)

    def list_refunds(
        self,
        payment_id: str,
        /,
        *,
        limit: int | None = None,
        offset: int | None = None,
        after: str | None = None,
        timeout: float | None = None,
    ) -> Page[RefundItem]:
        """List the refunds of a payment.

        Newest first.
        Iterating reads page after page.
        Scope `payments:read`.

        `limit`: How many to answer at most. 1 to 200.
        `offset`: How many to pass over.
        `after`: Only those that follow this one: pages by the last id of the page before repeat and miss nothing,
        whatever is created meanwhile. Without `offset`.
        """
        return self._caller.list(
            RefundItem,
            "GET",
            path_of("v1", "payments", payment_id, "refunds"),
            query=given({"limit": limit, "offset": offset, "after": after}),
            paging="after",
            timeout=timeout,
        )

    def list_deliveries(self, payment_id: str, /, *, timeout: float | None = None) -> Page[PaymentWebhookDelivery]:
        """List the webhook deliveries of a payment.

        To all endpoints, also deleted ones; newest first, at most 200. Kept for 94 days.
        Scope `payments:read`.
        """
        return self._caller.list(
            PaymentWebhookDelivery,
            "GET",
            path_of("v1", "payments", payment_id, "deliveries"),
            paging="none",
            timeout=timeout,
        )
