"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Mapping, Union

from .._answer import TollboothObject

__all__ = [
    "PaymentSucceededEvent",
    "PaymentFailedEvent",
    "PaymentRefundedEvent",
    "PaymentDisputedEvent",
    "RefundSucceededEvent",
    "RefundFailedEvent",
    "CheckoutSessionCompletedEvent",
    "CheckoutSessionExpiredEvent",
    "CheckoutSessionCanceledEvent",
    "TestPingEvent",
    "UnknownEvent",
    "WebhookEvent",
]


class PaymentSucceededEvent(TollboothObject):
    """A payment reached an authorized or captured state; fires on confirm and again on the processor's word."""

    __slots__ = ()
    type: Literal["payment.succeeded"]
    payment_id: str
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class PaymentFailedEvent(TollboothObject):
    """The processor reports that the charge failed."""

    __slots__ = ()
    type: Literal["payment.failed"]
    payment_id: str
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class PaymentRefundedEvent(TollboothObject):
    """A refund was created or settled."""

    __slots__ = ()
    type: Literal["payment.refunded"]
    payment_id: str
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class PaymentDisputedEvent(TollboothObject):
    """The processor opened a dispute or chargeback."""

    __slots__ = ()
    type: Literal["payment.disputed"]
    payment_id: str
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class RefundSucceededEvent(TollboothObject):
    """The processor has paid a refund out."""

    __slots__ = ()
    type: Literal["refund.succeeded"]
    refund_id: str
    """The refund."""
    payment_id: str
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class RefundFailedEvent(TollboothObject):
    """A refund was not made, or its money came back: its amount can be refunded again."""

    __slots__ = ()
    type: Literal["refund.failed"]
    refund_id: str
    """The refund."""
    payment_id: str
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class CheckoutSessionCompletedEvent(TollboothObject):
    """A session was paid."""

    __slots__ = ()
    type: Literal["checkout_session.completed"]
    session_id: str
    """The session."""
    payment_id: str
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class CheckoutSessionExpiredEvent(TollboothObject):
    """A session's time was over and it was unpaid."""

    __slots__ = ()
    type: Literal["checkout_session.expired"]
    session_id: str
    """The session."""
    payment_id: str | None
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class CheckoutSessionCanceledEvent(TollboothObject):
    """A session ended unpaid: ten attempts were declined, or risk screening refused the buyer."""

    __slots__ = ()
    type: Literal["checkout_session.canceled"]
    session_id: str
    """The session."""
    payment_id: str | None
    """Read the payment for amounts."""
    status: str
    """The object's state for this event."""


class TestPingEvent(TollboothObject):
    """The test operation was called on the endpoint; carries no payment."""

    __slots__ = ()
    type: Literal["test.ping"]
    created_at: str


class UnknownEvent(TollboothObject):
    """An event of a type that is newer than this library: acknowledge it and pass it over."""

    __slots__ = ()
    type: str

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


WebhookEvent = Union[
    PaymentSucceededEvent,
    PaymentFailedEvent,
    PaymentRefundedEvent,
    PaymentDisputedEvent,
    RefundSucceededEvent,
    RefundFailedEvent,
    CheckoutSessionCompletedEvent,
    CheckoutSessionExpiredEvent,
    CheckoutSessionCanceledEvent,
    TestPingEvent,
    UnknownEvent,
]

_KINDS: Mapping[str, type[Any]] = {
    "payment.succeeded": PaymentSucceededEvent,
    "payment.failed": PaymentFailedEvent,
    "payment.refunded": PaymentRefundedEvent,
    "payment.disputed": PaymentDisputedEvent,
    "refund.succeeded": RefundSucceededEvent,
    "refund.failed": RefundFailedEvent,
    "checkout_session.completed": CheckoutSessionCompletedEvent,
    "checkout_session.expired": CheckoutSessionExpiredEvent,
    "checkout_session.canceled": CheckoutSessionCanceledEvent,
    "test.ping": TestPingEvent,
}


def event_of(body: Mapping[str, Any]) -> WebhookEvent:
    """The event of a body that was verified."""
    event: WebhookEvent = _KINDS.get(body["type"], UnknownEvent)(body)
    return event
