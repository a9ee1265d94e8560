"""Verifies webhooks by their signature over the raw bytes."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from typing import Any, Mapping, Sequence

from ._answer import TollboothObject
from ._errors import SignatureVerificationError
from ._json import parse_json
from .gen.checkout_sessions import CheckoutSession
from .gen.disputes import DisputeRecord
from .gen.payments import Payment, RefundItem
from .gen.payouts import Payout
from .gen.reports import Report
from .gen.webhook_events import WebhookEvent, event_of

_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"[0-9]{1,15}")


def verify_webhook(
    raw_body: bytes,
    header: str | None,
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Returns the event of a delivery that Tollbooth signed. Answer 2xx; if this raises, answer 400.

    `raw_body`: the received bytes; JSON that was parsed and serialized again has different bytes.
    `header`: value of `Service-Signature`. `secret`: the endpoint's `whsec_…`, or both while you roll it.
    `tolerance`: allowed difference between the signature's time and now, seconds; older deliveries may be replays.
    Raises SignatureVerificationError with the cause.
    """
    if not isinstance(raw_body, (bytes, bytearray, memoryview)):
        raise TypeError("raw_body must be the received bytes, not a str and not the output of a JSON parser")
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(isinstance(each, str) and each.startswith("whsec_") for each in secrets):
        raise TypeError("secret must be the endpoint's signing secret, whsec_…")
    sent_at, signatures = _parts_of(header or "")
    body = bytes(raw_body)
    signed = sent_at.encode() + b"." + body
    wanted = [hmac.new(each.encode(), signed, hashlib.sha256).hexdigest() for each in secrets]
    # Every pair is compared, so the time does not show which one matches.
    if True not in [hmac.compare_digest(signature, one) for signature in signatures for one in wanted]:
        raise SignatureVerificationError(
            "no v1 signature matches: check that the secret is this endpoint's and that the body is unparsed"
        )
    age = (time.time() if now is None else now) - int(sent_at)
    if not abs(age) <= tolerance:
        when = f"{round(age)} s ago" if age > 0 else f"{round(-age)} s from now"
        raise SignatureVerificationError(
            f"signed {when}, tolerance is {tolerance:g} s: a replayed delivery, or a wrong clock"
        )
    event = _json_of(body)
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise SignatureVerificationError("the signature is valid, but the body is not an event")
    return event_of(event)


_OBJECTS: Mapping[str, type[TollboothObject]] = {
    "payment": Payment,
    "authorization": Payment,
    "refund": RefundItem,
    "dispute": DisputeRecord,
    "checkout_session": CheckoutSession,
    "payout": Payout,
    "report": Report,
}


class WebhookObject(TollboothObject):
    """A delivery to an endpoint with the payload `object`. Ignore a lower `sequence` than you know of the object. `data` is
    None for a `test.ping`, for an object of more than 64 KiB, and for one that could not be found: read it."""

    __slots__ = ()
    type: str
    id: str | None
    created_at: str
    sequence: int | None
    data: Payment | RefundItem | DisputeRecord | CheckoutSession | Payout | Report | None

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(body)
        kind = _OBJECTS.get(body["type"].partition(".")[0])
        if kind is not None and isinstance(body.get("data"), dict):
            self._data["data"] = kind(body["data"])


def verify_webhook_object(
    raw_body: bytes,
    header: str | None,
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookObject:
    """The same as `verify_webhook` for an endpoint with the payload `object`."""
    return WebhookObject(verify_webhook(raw_body, header, secret, tolerance=tolerance, now=now).to_dict())


def _parts_of(header: str) -> tuple[str, list[str]]:
    """Time and signatures of the header."""
    if header == "":
        raise SignatureVerificationError("the Service-Signature header is missing")
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name == "t"]
    signatures = [value for name, value in parts if name == "v1" and _SIGNATURE.fullmatch(value)]
    if len(times) != 1 or not _TIME.fullmatch(times[0]) or not signatures:
        raise SignatureVerificationError(
            "the Service-Signature header must look like t=<unix seconds>,v1=<64 hex digits>"
        )
    return times[0], signatures


def _json_of(body: bytes) -> Any:
    try:
        return parse_json(body)
    except ValueError:
        return None
