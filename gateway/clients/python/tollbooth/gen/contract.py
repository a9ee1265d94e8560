"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Final, Literal, Union

VERSION: Final = "0.1.0"
"""Of this library and of the API that it was made for."""

ErrorCode = Union[
    Literal[
        "invalid_body", "unauthorized", "payment_blocked", "forbidden", "feature_disabled", "not_found",
        "method_not_allowed", "idempotency_conflict", "session_expired", "payload_too_large", "unsupported_media_type",
        "no_connector", "not_refundable", "amount_too_large", "idempotency_key_reuse", "connector_not_eligible",
        "too_many_keys", "dispute_not_answerable", "too_many_files", "rate_limited", "internal_error", "connector_error",
        "service_unavailable",
    ],
    str,
]
"""What an error's `code` says; expect further ones."""

SECRET_FIELDS: Final = frozenset(
    {
        "api_key",
        "checkout_url",
        "client_secret",
        "frame_url",
        "redirect_url",
        "session_secret",
        "signing_secret",
    }
)
"""Fields of answers that are secret: shown to nobody who only prints an answer."""
