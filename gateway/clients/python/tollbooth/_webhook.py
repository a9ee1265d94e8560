"""Webhooks: believed only with their signature over the raw bytes."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from typing import Any, Sequence

from ._errors import SignatureVerificationError
from ._json import parse_json
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
    """The event of a delivery that Tollbooth signed. Answer 2xx, and what does not pass with 400.

    `raw_body`: the bytes as they came; JSON that was parsed and written again has other ones.
    `header`: of `Service-Signature`. `secret`: the endpoint's `whsec_…`; both, while you roll it.
    `tolerance`: how many seconds the signature's time may be off; an older delivery is somebody's copy.
    Raises SignatureVerificationError, which says what is wrong.
    """
    if not isinstance(raw_body, (bytes, bytearray, memoryview)):
        raise TypeError("raw_body must be the bytes as they came, not a text and not what a JSON parser made of them")
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(isinstance(each, str) and each.startswith("whsec_") for each in secrets):
        raise TypeError("secret must be the endpoint's signing secret, whsec_…")
    sent_at, signatures = _parts_of(header or "")
    body = bytes(raw_body)
    signed = sent_at.encode() + b"." + body
    wanted = [hmac.new(each.encode(), signed, hashlib.sha256).hexdigest() for each in secrets]
    # Every pair is compared: how long it takes says nothing of which fits.
    if True not in [hmac.compare_digest(given, one) for given in signatures for one in wanted]:
        raise SignatureVerificationError(
            "no v1 signature fits: is it this endpoint's secret, "
            "and are these the bytes as they came, before any parser?"
        )
    age = (time.time() if now is None else now) - int(sent_at)
    if not abs(age) <= tolerance:
        when = f"{round(age)} s ago" if age > 0 else f"{round(-age)} s from now"
        raise SignatureVerificationError(
            f"signed {when}, and {tolerance:g} s are tolerated: a copy of an old delivery, or a clock that is off"
        )
    event = _json_of(body)
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise SignatureVerificationError("it is signed, and is no event that this library knows how to read")
    return event_of(event)


def _parts_of(header: str) -> tuple[str, list[str]]:
    """Time and signatures of the header."""
    if header == "":
        raise SignatureVerificationError("there is no Service-Signature header")
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name == "t"]
    signatures = [value for name, value in parts if name == "v1" and _SIGNATURE.fullmatch(value)]
    if len(times) != 1 or not _TIME.fullmatch(times[0]) or not signatures:
        raise SignatureVerificationError(
            "the Service-Signature header does not look like t=<unix seconds>,v1=<64 hex digits>"
        )
    return times[0], signatures


def _json_of(body: bytes) -> Any:
    try:
        return parse_json(body)
    except ValueError:
        return None
