"""Whether a failed request is sent again, and when: pure, so that it is tested without waiting."""

from __future__ import annotations

from ._errors import ConnectionFailedError, TollboothError

# Only these invite the same request again.
_INVITING = frozenset({409, 429, 502, 503})
# Seconds. The first pause is at most this; each may be twice as long as the one before.
_PAUSE = 0.5
_PAUSE_MAX = 8.0


def pause_before(
    error: TollboothError, *, attempts: int, max_retries: int, is_repeatable: bool, left: float, random: float
) -> float | None:
    """How long to wait before the next try, in seconds; None: it is not tried again.

    `is_repeatable`: a GET, or under an idempotency key, so that it is done once however often it arrives.
    """
    if attempts > max_retries or not _may_repeat(error, is_repeatable):
        return None
    pause = (error.retry_after or 0.0) + random * min(_PAUSE * 2 ** (attempts - 1), _PAUSE_MAX)
    # Whoever waits for longer than his time waits for nothing.
    return pause if pause < left else None


def _may_repeat(error: TollboothError, is_repeatable: bool) -> bool:
    if isinstance(error, ConnectionFailedError):
        return is_repeatable
    if error.status not in _INVITING:
        return False
    # A proxy's own 502 says nothing of whether the request came through.
    return is_repeatable or error.code != "unexpected_answer"
