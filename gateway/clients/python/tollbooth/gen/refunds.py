"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Literal

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page
from .payments import RefundItem


class RefundResult(TollboothObject):
    __slots__ = ()
    id: str
    """`re_…`."""
    payment_id: str
    """`pay_…`."""
    refunded: int
    """This refund's amount, minor units."""
    status: str
    """The payment's status after it."""
    connector_ref: str | None
    """The refund's id at the processor."""
    refund_status: Literal["pending", "succeeded", "failed", "canceled"] | str
    """`pending`, `succeeded`, `failed` or `canceled`."""


class RefundsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        payment_id: str,
        /,
        *,
        amount: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> RefundResult:
        """Refund a payment.

        Without an amount the full remaining balance is refunded. The body may be empty.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `payments:write`.

        `amount`: Minor units; absent: all that is left.
        `reason`: Free text; `duplicate`, `fraudulent` and `requested_by_customer` are passed to the processor as
        such. At most 255 characters.
        """
        return self._caller.send(
            RefundResult,
            "POST",
            path_of("v1", "payments", payment_id, "refunds"),
            body=given({"amount": amount, "reason": reason}),
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
        status: Literal["pending", "succeeded", "failed", "canceled"] | None = None,
        payment_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> Page[RefundItem]:
        """List refunds.

        Newest first. `total` is exact within the filters. A `payment_id` that is none of yours is `not_found`.
        Iterating reads page after page.
        Scope `payments:read`.

        `limit`: How many to answer at most. 1 to 200.
        `offset`: How many to pass over.
        `after`: Only those that follow this one: pages by the last id of the page before repeat and miss nothing,
        whatever is created meanwhile. Without `offset`.
        `status`: Exact match.
        `payment_id`: Only those of this payment.
        `from_`: Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters.
        `to`: Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters.
        """
        return self._caller.list(
            RefundItem,
            "GET",
            "/v1/refunds",
            query=given(
                {
                    "limit": limit,
                    "offset": offset,
                    "after": after,
                    "status": status,
                    "payment_id": payment_id,
                    "from": from_,
                    "to": to,
                },
            ),
            paging="after",
            timeout=timeout,
        )

    def get(self, refund_id: str, /, *, timeout: float | None = None) -> RefundItem:
        """Read a refund.

        What became of it: a `pending` one ends `succeeded` or `failed`.
        Scope `payments:read`.
        """
        return self._caller.send(RefundItem, "GET", path_of("v1", "refunds", refund_id), timeout=timeout)
