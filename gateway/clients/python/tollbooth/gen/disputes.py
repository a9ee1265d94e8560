"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import ClassVar, Literal, Mapping

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page


class DisputeEvidence(TollboothObject):
    __slots__ = ()
    status: Literal["not_submitted", "pending", "submitted"] | str
    """`not_submitted`: nothing was sent from here; `pending`: it was, and the processor has not told yet that it has
    it; `submitted`.
    """
    submitted_at: str | None
    """When the processor was known to have it."""
    product_description: str | None
    """As it was sent."""
    customer_name: str | None
    """As it was sent."""
    customer_email_address: str | None
    """As it was sent."""
    customer_purchase_ip: str | None
    """As it was sent."""
    billing_address: str | None
    """As it was sent."""
    service_date: str | None
    """As it was sent."""
    shipping_carrier: str | None
    """As it was sent."""
    shipping_tracking_number: str | None
    """As it was sent."""
    shipping_date: str | None
    """As it was sent."""
    shipping_address: str | None
    """As it was sent."""
    refund_policy: str | None
    """As it was sent."""
    refund_refusal_explanation: str | None
    """As it was sent."""
    cancellation_policy: str | None
    """As it was sent."""
    cancellation_rebuttal: str | None
    """As it was sent."""
    duplicate_charge_explanation: str | None
    """As it was sent."""
    access_activity_log: str | None
    """As it was sent."""
    uncategorized_text: str | None
    """As it was sent."""
    receipt_file: str | None
    """As it was sent."""
    customer_communication_file: str | None
    """As it was sent."""
    customer_signature_file: str | None
    """As it was sent."""
    shipping_documentation_file: str | None
    """As it was sent."""
    service_documentation_file: str | None
    """As it was sent."""
    refund_policy_file: str | None
    """As it was sent."""
    cancellation_policy_file: str | None
    """As it was sent."""
    uncategorized_file: str | None
    """As it was sent."""


class DisputeEvidenceState(TollboothObject):
    __slots__ = ()
    status: Literal["not_submitted", "pending", "submitted"] | str
    """`not_submitted`: nothing was sent from here; `pending`: it was, and the processor has not told yet that it has
    it; `submitted`.
    """
    submitted_at: str | None
    """When the processor was known to have it."""


class DisputeFile(TollboothObject):
    __slots__ = ()
    id: str
    """`file_…`."""
    dispute_id: str
    """`dp_…`."""
    type: str
    """By its bytes: `application/pdf`, `image/jpeg` or `image/png`."""
    size: int
    """Bytes."""
    sha256: str
    """SHA-256 of its bytes, hexadecimal."""
    created_at: str
    """When it was uploaded."""


class DisputeItem(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {"evidence": DisputeEvidenceState}
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
    payment_id: str
    """`pay_…`."""
    currency: str
    """ISO 4217, upper case."""
    acceptance: Literal["pending", "accepted"] | str | None
    """`pending`: it is being conceded, and the processor has not told yet; `accepted`."""
    evidence: DisputeEvidenceState


class DisputeRecord(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {"evidence": DisputeEvidence}
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
    payment_id: str
    """`pay_…`."""
    currency: str
    """ISO 4217, upper case."""
    acceptance: Literal["pending", "accepted"] | str | None
    """`pending`: it is being conceded, and the processor has not told yet; `accepted`."""
    evidence: DisputeEvidence


class DisputesResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        after: str | None = None,
        status: Literal[
            "warning_needs_response", "warning_under_review", "warning_closed", "needs_response", "under_review", "won",
            "lost",
        ] | None = None,
        payment_id: str | None = None,
        due_before: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> Page[DisputeItem]:
        """List disputes.

        By when they were opened, newest first. `total` is exact within the filters. With `status=needs_response` and
        `due_before` it is the list of what is to be answered. A `payment_id` that is none of yours is `not_found`.
        Iterating reads page after page.
        Scope `payments:read`.

        `limit`: How many to answer at most. 1 to 200.
        `offset`: How many to pass over.
        `after`: Only those that follow this one: pages by the last id of the page before repeat and miss nothing,
        whatever is created meanwhile. Without `offset`.
        `status`: Exact match.
        `payment_id`: Only those of this payment.
        `due_before`: Only those whose evidence is due before: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC).
        At most 40 characters.
        `from_`: Opened at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters.
        `to`: Opened before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters.
        """
        return self._caller.list(
            DisputeItem,
            "GET",
            "/v1/disputes",
            query=given(
                {
                    "limit": limit,
                    "offset": offset,
                    "after": after,
                    "status": status,
                    "payment_id": payment_id,
                    "due_before": due_before,
                    "from": from_,
                    "to": to,
                },
            ),
            paging="after",
            timeout=timeout,
        )

    def get(self, dispute_id: str, /, *, timeout: float | None = None) -> DisputeRecord:
        """Read a dispute.

        With the evidence that was sent last.
        Scope `payments:read`.
        """
        return self._caller.send(DisputeRecord, "GET", path_of("v1", "disputes", dispute_id), timeout=timeout)

    def submit_evidence(
        self,
        dispute_id: str,
        /,
        *,
        product_description: str | None = None,
        customer_name: str | None = None,
        customer_email_address: str | None = None,
        customer_purchase_ip: str | None = None,
        billing_address: str | None = None,
        service_date: str | None = None,
        shipping_carrier: str | None = None,
        shipping_tracking_number: str | None = None,
        shipping_date: str | None = None,
        shipping_address: str | None = None,
        refund_policy: str | None = None,
        refund_refusal_explanation: str | None = None,
        cancellation_policy: str | None = None,
        cancellation_rebuttal: str | None = None,
        duplicate_charge_explanation: str | None = None,
        access_activity_log: str | None = None,
        uncategorized_text: str | None = None,
        receipt_file: str | None = None,
        customer_communication_file: str | None = None,
        customer_signature_file: str | None = None,
        shipping_documentation_file: str | None = None,
        service_documentation_file: str | None = None,
        refund_policy_file: str | None = None,
        cancellation_policy_file: str | None = None,
        uncategorized_file: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> DisputeRecord:
        """Answer a dispute with evidence.

        Sends texts, and files that were uploaded before, to the processor for good: a dispute is answered once. At
        least one field is needed; blanks around a text are left away, and a text of blanks alone is refused. The
        dispute moves to `under_review` by the processor's report. While the processor has not told that it has the
        evidence, `evidence.status` is `pending`; do not send it again.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `payments:write`.

        `product_description`: What was sold. At most 20,000 characters.
        `customer_name`: The customer's name. At most 500 characters.
        `customer_email_address`: The customer's e-mail address. At most 500 characters.
        `customer_purchase_ip`: The address that the customer bought from. At most 500 characters.
        `billing_address`: The customer's billing address. At most 2,000 characters.
        `service_date`: When the customer got the service, in words. At most 500 characters.
        `shipping_carrier`: Who carried it. At most 500 characters.
        `shipping_tracking_number`: The carrier's number. At most 500 characters.
        `shipping_date`: When it left, in words. At most 500 characters.
        `shipping_address`: Where it went. At most 2,000 characters.
        `refund_policy`: The refund policy, and how the customer saw it before the purchase. At most 20,000
        characters.
        `refund_refusal_explanation`: Why the customer is owed no refund. At most 20,000 characters.
        `cancellation_policy`: The cancellation policy, and how the customer saw it before the purchase. At most
        20,000 characters.
        `cancellation_rebuttal`: Why the subscription was not canceled. At most 20,000 characters.
        `duplicate_charge_explanation`: What tells this charge from the one that it looks like. At most 20,000
        characters.
        `access_activity_log`: Log lines that show the customer's use of what was sold. At most 20,000 characters.
        `uncategorized_text`: Anything else. In the sandbox `winning_evidence` wins the dispute and `losing_evidence`
        loses it. At most 20,000 characters.
        `receipt_file`: What the customer got as a receipt.
        `customer_communication_file`: What the customer wrote.
        `customer_signature_file`: The customer's signature.
        `shipping_documentation_file`: Proof that it was shipped to the customer.
        `service_documentation_file`: Proof that the service was given.
        `refund_policy_file`: The refund policy as the customer saw it.
        `cancellation_policy_file`: The cancellation policy as the customer saw it.
        `uncategorized_file`: Anything else.
        """
        return self._caller.send(
            DisputeRecord,
            "POST",
            path_of("v1", "disputes", dispute_id, "evidence"),
            body=given(
                {
                    "product_description": product_description,
                    "customer_name": customer_name,
                    "customer_email_address": customer_email_address,
                    "customer_purchase_ip": customer_purchase_ip,
                    "billing_address": billing_address,
                    "service_date": service_date,
                    "shipping_carrier": shipping_carrier,
                    "shipping_tracking_number": shipping_tracking_number,
                    "shipping_date": shipping_date,
                    "shipping_address": shipping_address,
                    "refund_policy": refund_policy,
                    "refund_refusal_explanation": refund_refusal_explanation,
                    "cancellation_policy": cancellation_policy,
                    "cancellation_rebuttal": cancellation_rebuttal,
                    "duplicate_charge_explanation": duplicate_charge_explanation,
                    "access_activity_log": access_activity_log,
                    "uncategorized_text": uncategorized_text,
                    "receipt_file": receipt_file,
                    "customer_communication_file": customer_communication_file,
                    "customer_signature_file": customer_signature_file,
                    "shipping_documentation_file": shipping_documentation_file,
                    "service_documentation_file": service_documentation_file,
                    "refund_policy_file": refund_policy_file,
                    "cancellation_policy_file": cancellation_policy_file,
                    "uncategorized_file": uncategorized_file,
                },
            ),
            is_idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def accept(
        self,
        dispute_id: str,
        /,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> DisputeRecord:
        """Accept a dispute.

        Concedes it: the dispute becomes `lost` by the processor's report, and its money stays with the buyer. It
        cannot be taken back. The body may be empty.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `payments:write`.
        """
        return self._caller.send(
            DisputeRecord,
            "POST",
            path_of("v1", "disputes", dispute_id, "accept"),
            is_idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def upload_file(
        self,
        dispute_id: str,
        /,
        *,
        file: bytes,
        content_type: Literal["application/pdf", "image/jpeg", "image/png"],
        timeout: float | None = None,
    ) -> DisputeFile:
        """Upload a file for evidence.

        The body is the file itself: a PDF, a JPEG or a PNG of at most 5 MiB, whole (a PNG with right checksums, a
        PDF that is one document). What phones, scanners and web frameworks append is cut off: `size` and `sha256`
        are those of the stored file; a picture has at most 20,000 pixels a side and 100 million in all. At most 20
        files a dispute, and 8 uploads at once: what is beyond is `service_unavailable` before any of it is read, so
        send it again after `Retry-After`. A file is part of the evidence once its id is sent with it; one that is
        never sent is deleted after 30 days.
        Scope `payments:write`.
        """
        return self._caller.send(
            DisputeFile,
            "POST",
            path_of("v1", "disputes", dispute_id, "files"),
            file=(file, content_type),
            timeout=timeout,
        )
