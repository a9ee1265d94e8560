"""Error classes. An error contains the API's message, but never a key, a secret or a value that was sent."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Mapping, NamedTuple, Sequence


class FieldProblem(NamedTuple):
    """An invalid field and its problem."""

    field: str
    """Path such as `metadata.order`; empty for the body as a whole."""
    problem: str


class TollboothError(Exception):
    """Base class of all errors of failed calls. Mistakes of the calling code are TypeError or ValueError."""

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
        """The API's code, or `connection_failed`, `timed_out`, `unexpected_answer`, `signature_invalid`."""
        self.status = status
        """HTTP status; None without a response."""
        self.request_id = request_id
        """Id of the request in Tollbooth's logs. Quote it to support."""
        self.details = tuple(details)
        """The invalid fields of `invalid_body`."""
        self.retry_after = retry_after
        """Seconds, from Retry-After."""
        self.attempts = 1
        """Number of attempts."""


class InvalidRequestError(TollboothError):
    """The request is invalid (400, 405, 413, 415 and the like): correct it; `details` lists the fields."""


class AuthenticationError(TollboothError):
    """The API key is missing, wrong, expired or revoked (401)."""


class PermissionDeniedError(TollboothError):
    """The key lacks the scope, or a feature is disabled for the merchant (403)."""


class NotFoundError(TollboothError):
    """The object does not exist for this key (404)."""


class ConflictError(TollboothError):
    """The idempotency key is used by a request in progress (409), or was used for a different request (422)."""


class RefusedError(TollboothError):
    """The request is valid but the current state does not allow it (402, 410, 422), e.g. `amount_too_large`."""


class RateLimitError(TollboothError):
    """Too many requests (429)."""


class ConnectorError(TollboothError):
    """The card processor could not be reached (502): no money has moved."""


class ServiceError(TollboothError):
    """Tollbooth failed (500, 503 and other 5xx)."""


class ConnectionFailedError(TollboothError):
    """No complete response: it is unknown whether the request was carried out."""


class TimedOutError(ConnectionFailedError):
    """The time limit was reached."""


class UnexpectedAnswerError(TollboothError):
    """The response is not Tollbooth's: a redirect, not JSON, or too large."""


class SignatureVerificationError(TollboothError):
    """The webhook could not be verified; the message has the cause, without the secret."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"webhook not verified: {cause}", code="signature_invalid")


# API keys, signing secrets and session secrets of any owner.
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
    """Converts an error response, with or without the API's envelope.

    `api_key` is removed from the error: a debugging proxy, for example, may echo it.
    """

    def redact(text: str) -> str:
        return _SECRET.sub("[secret]", text if api_key is None else text.replace(api_key, "[secret]"))

    request_id = None if headers.get("request-id") is None else redact(headers["request-id"])
    retry_after = _seconds_of(headers.get("retry-after"))
    envelope = body.get("error") if isinstance(body, dict) else None
    code = envelope.get("code") if isinstance(envelope, dict) else None
    message = envelope.get("message") if isinstance(envelope, dict) else None
    if not isinstance(envelope, dict) or not isinstance(code, str) or not isinstance(message, str):
        kind = ServiceError if status >= 500 or status == 429 else UnexpectedAnswerError
        what = f"the response is not Tollbooth's: HTTP {status} without its error envelope"
        return kind(what, code="unexpected_answer", status=status, request_id=request_id, retry_after=retry_after)
    code, message = redact(code), redact(message)
    details = _details_of(envelope.get("details"), redact)
    fields = "; ".join(f"{field or 'the body'} {problem}" for field, problem in details)
    context = ", ".join(str(item) for item in (code, status, request_id) if item is not None)
    return _kind_of(code, status)(
        f"{fields or message} ({context})",
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


def _details_of(value: Any, redact: Callable[[str], str]) -> list[FieldProblem]:
    def text_of(item: Any) -> str:
        return redact(item) if isinstance(item, str) else ""

    problems = value if isinstance(value, list) else []
    return [
        FieldProblem(text_of(each.get("field")), text_of(each.get("problem")))
        for each in problems
        if isinstance(each, dict)
    ]


def _seconds_of(text: str | None) -> float | None:
    """Seconds of a Retry-After; a date is relative to the system clock."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 6:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
