"""Decides whether and when a failed request is retried."""

from __future__ import annotations

from ._errors import ConnectionFailedError, TollboothError

_RETRYABLE = frozenset({409, 429, 502, 503})
# Seconds. Limit of the first pause; the limit doubles with each attempt.
_PAUSE = 0.5
_PAUSE_MAX = 8.0


def pause_before(
    error: TollboothError, *, attempts: int, max_retries: int, is_repeatable: bool, left: float, random: float
) -> float | None:
    """Seconds to wait before the next attempt; None: no retry.

    `is_repeatable`: a GET or a request with an idempotency key: a repeat has no further effect.
    """
    if attempts > max_retries or not _may_retry(error, is_repeatable):
        return None
    pause = (error.retry_after or 0.0) + random * min(_PAUSE * 2 ** (attempts - 1), _PAUSE_MAX)
    # A pause beyond the remaining time would be in vain.
    return pause if pause < left else None


def _may_retry(error: TollboothError, is_repeatable: bool) -> bool:
    if isinstance(error, ConnectionFailedError):
        return is_repeatable
    if error.status not in _RETRYABLE:
        return False
    # A proxy's own 502 does not show whether the request arrived.
    return is_repeatable or error.code != "unexpected_answer"
