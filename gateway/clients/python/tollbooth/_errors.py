"""What can go wrong, by class. An error tells what the API told, and never a key, a secret or a value that was sent."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Mapping, NamedTuple, Sequence


class FieldProblem(NamedTuple):
    """A field that is wrong, with the form that is wanted."""

    field: str
    """Its path in your own names, such as `metadata.order`; empty: the body as a whole."""
    problem: str


class TollboothError(Exception):
    """Everything that this library raises when a call fails; mistakes of the calling code are TypeError or ValueError."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        request_id: str | None = None,
        details: Sequence[FieldProblem] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """What to act on: the API's code; or `connection_failed`, `timed_out`, `unexpected_answer`, `signature_invalid`.
        """
        self.status = status
        """HTTP status; None without an answer."""
        self.request_id = request_id
        """Names the request in Tollbooth's logs; tell it to support."""
        self.details = tuple(details)
        """The wrong fields, of `invalid_body`."""
        self.retry_after = retry_after
        """Seconds to wait before the same request makes sense again, where that was told."""
        self.attempts = 1
        """How often the request was sent."""


class InvalidRequestError(TollboothError):
    """The request breaks a rule (400, 405, 413, 415 and the like): mend it; `details` names the fields."""


class AuthenticationError(TollboothError):
    """The API key is missing, wrong, expired or revoked (401)."""


class PermissionDeniedError(TollboothError):
    """The key lacks the scope, or something is switched off for the merchant (403)."""


class NotFoundError(TollboothError):
    """There is no such object for this key (404)."""


class ConflictError(TollboothError):
    """The idempotency key is in use by a request that goes on (409), or was used for another one (422)."""


class RefusedError(TollboothError):
    """A valid request that the state of things refuses (402, 410, 422): too much to refund, a blocked payment …"""


class RateLimitError(TollboothError):
    """Too many requests (429)."""


class ConnectorError(TollboothError):
    """The card processor could not be asked (502): no money has moved."""


class ServiceError(TollboothError):
    """Tollbooth itself is in trouble (500, 503 and other 5xx)."""


class ConnectionFailedError(TollboothError):
    """No whole answer came: whether the request was carried out is unknown."""


class TimedOutError(ConnectionFailedError):
    """The time was over."""


class UnexpectedAnswerError(TollboothError):
    """What answered does not speak as Tollbooth does: a redirect, no JSON, too much of it."""


class SignatureVerificationError(TollboothError):
    """A webhook that is not to be believed; the message says why, without the secret."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the webhook is not to be believed: {why}", code="signature_invalid")


# Keys, signing secrets and sessions' secrets, whosever they are.
_SECRET = re.compile(r"(?:sk_(?:test|live)|whsec|cs_secret)_[\w-]+", re.ASCII)

_BY_STATUS: Mapping[int, type[TollboothError]] = {
    401: AuthenticationError,
    402: RefusedError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: RefusedError,
    422: RefusedError,
    429: RateLimitError,
    502: ConnectorError,
}


def error_of(status: int, headers: Mapping[str, str], body: Any, api_key: str | None = None) -> TollboothError:
    """The error that an answer stands for; anything but the API's envelope is an unexpected one.

    `api_key` was sent: a server that tells it back, as a debugging proxy may, puts it into no error.
    """

    def told(text: str) -> str:
        return _SECRET.sub("[secret]", text if api_key is None else text.replace(api_key, "[secret]"))

    request_id = None if headers.get("request-id") is None else told(headers["request-id"])
    retry_after = _seconds_of(headers.get("retry-after"))
    envelope = body.get("error") if isinstance(body, dict) else None
    code = envelope.get("code") if isinstance(envelope, dict) else None
    message = envelope.get("message") if isinstance(envelope, dict) else None
    if not isinstance(envelope, dict) or not isinstance(code, str) or not isinstance(message, str):
        kind = ServiceError if status >= 500 or status == 429 else UnexpectedAnswerError
        what = f"what answered was not Tollbooth: HTTP {status} without its error envelope"
        return kind(what, code="unexpected_answer", status=status, request_id=request_id, retry_after=retry_after)
    code, message = told(code), told(message)
    details = _details_of(envelope.get("details"), told)
    fields = "; ".join(f"{field or 'the body'} {problem}" for field, problem in details)
    place = ", ".join(str(part) for part in (code, status, request_id) if part is not None)
    return _kind_of(code, status)(
        f"{fields or message} ({place})",
        code=code,
        status=status,
        request_id=request_id,
        details=details,
        retry_after=retry_after,
    )


def _kind_of(code: str, status: int) -> type[TollboothError]:
    if code.startswith("idempotency_"):
        return ConflictError
    return _BY_STATUS.get(status, ServiceError if status >= 500 else InvalidRequestError)


def _details_of(value: Any, told: Callable[[str], str]) -> list[FieldProblem]:
    def text_of(part: Any) -> str:
        return told(part) if isinstance(part, str) else ""

    problems = value if isinstance(value, list) else []
    return [
        FieldProblem(text_of(each.get("field")), text_of(each.get("problem")))
        for each in problems
        if isinstance(each, dict)
    ]


def _seconds_of(text: str | None) -> float | None:
    """Seconds of a Retry-After; a date is read by the machine's clock."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 6:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
