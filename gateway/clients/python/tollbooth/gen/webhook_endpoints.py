"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Mapping, Sequence

from .._answer import TollboothObject
from .._caller import Caller
from .._given import given, path_of
from .._page import Page


class CreateWebhookEndpointResult(TollboothObject):
    """What only the first answer has is absent from that of a repeat under its idempotency key."""

    __slots__ = ()
    id: str
    """`whk_…`."""
    url: str
    """Normalized https URL."""
    description: str | None
    """Free-text label."""
    event_types: list[str]
    """Subscribed event codes."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    status: Literal["active", "disabled"] | str
    """A disabled endpoint gets no new deliveries."""
    signing_secret: str | None
    """Key of the signatures, prefix included; in this answer only."""


class DeliveryAttempt(TollboothObject):
    __slots__ = ()
    started_at: str
    """When it began."""
    trigger: Literal["auto", "manual", "test"] | str
    """`auto`, `manual` or `test`."""
    status_code: int
    """HTTP status of your answer; 0: none came back."""
    error_code: str | None
    """Why it failed; expect further codes."""
    duration_ms: int
    """The whole attempt, milliseconds."""
    dns_ms: int
    """Name resolution; 0: an open connection was used again, milliseconds."""
    connect_ms: int
    """TCP connect; 0: as dns_ms, milliseconds."""
    tls_ms: int
    """TLS handshake; 0: as dns_ms, milliseconds."""
    first_byte_ms: int
    """Until the first byte of the answer, milliseconds."""
    response_snippet: str | None
    """The first 1 KiB of an answer that was no success."""


class RetryWebhookDeliveryResult(TollboothObject):
    __slots__ = ()
    queued: bool


class TestWebhookEndpointResult(TollboothObject):
    __slots__ = ()
    sent: bool


class WebhookDelivery(TollboothObject):
    __slots__ = ()
    id: str
    """`whd_…`."""
    event_type: str
    """Event code."""
    attempts: int
    """Attempts made since it was queued."""
    delivered: bool
    """A 2xx came back."""
    failed: bool
    """Attempts are exhausted."""
    status_code: int
    """The last attempt's HTTP status; 0: none came back."""
    last_error: str | None
    """Why the last attempt failed."""
    next_attempt_at: str | None
    """Only while pending."""
    payload: dict[str, Any]
    """The body that is sent."""
    created_at: str
    """When it was queued."""


class WebhookDeliveryWithAttempts(TollboothObject):
    __slots__ = ()
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {"attempt_log": DeliveryAttempt}
    id: str
    """`whd_…`."""
    event_type: str
    """Event code."""
    attempts: int
    """Attempts made since it was queued."""
    delivered: bool
    """A 2xx came back."""
    failed: bool
    """Attempts are exhausted."""
    status_code: int
    """The last attempt's HTTP status; 0: none came back."""
    last_error: str | None
    """Why the last attempt failed."""
    next_attempt_at: str | None
    """Only while pending."""
    payload: dict[str, Any]
    """The body that is sent."""
    created_at: str
    """When it was queued."""
    attempt_log: list[DeliveryAttempt]
    """The latest 100, newest first."""


class WebhookEndpoint(TollboothObject):
    __slots__ = ()
    id: str
    """`whk_…`."""
    url: str
    """Normalized https URL."""
    description: str | None
    """Free-text label."""
    event_types: list[str]
    """Subscribed event codes."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    status: Literal["active", "disabled"] | str
    """A disabled endpoint gets no new deliveries."""


class WebhookEndpointHealth(TollboothObject):
    __slots__ = ()
    delivered: int
    """Deliveries of the window that were delivered."""
    failed: int
    """That were given up."""
    pending: int
    """That are still tried."""
    attempts: int
    """Attempts for all of them."""
    failed_attempts: int
    """Attempts that failed."""
    oldest_pending_at: str | None
    """Since when the longest waiting delivery of all waits; absent: none does."""


class WebhookEndpointWithSecret(TollboothObject):
    __slots__ = ()
    id: str
    """`whk_…`."""
    url: str
    """Normalized https URL."""
    description: str | None
    """Free-text label."""
    event_types: list[str]
    """Subscribed event codes."""
    environment: Literal["sandbox", "live"] | str
    """The environment of the API key."""
    status: Literal["active", "disabled"] | str
    """A disabled endpoint gets no new deliveries."""
    signing_secret: str
    """Key of the signatures, prefix included; in this answer only."""


class WebhookRetryRun(TollboothObject):
    __slots__ = ()
    id: str
    """`op_…`."""
    endpoint_id: str
    """`whk_…`."""
    status: Literal["running", "finished"] | str
    """Whether it goes on."""
    total: int
    """Failed deliveries when it began."""
    queued: int
    """Put back into the queue so far."""
    created_at: str
    """When it began."""


class WebhookEndpointsResource:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        *,
        url: str,
        event_types: Sequence[Literal[
            "payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed", "authorization.captured",
            "authorization.canceled", "authorization.expired", "refund.succeeded", "refund.failed",
            "checkout_session.completed", "checkout_session.expired", "checkout_session.canceled", "test.ping",
        ] | str],
        description: str | None = None,
        environment: Literal["sandbox", "live"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> CreateWebhookEndpointResult:
        """Register a webhook endpoint.

        The answer holds the signing secret, once. Under an idempotency key a repeat registers nothing and is
        answered 200 with the endpoint, without its secret: roll it if it was lost. Without a key the same URL is
        registered again, and both get every event. A merchant has at most 16 in an environment.
        Without an idempotency key of yours it gets one, so that it is safely repeated.
        Scope `merchant:write`.

        `url`: https only. At most 2,048 characters.
        `event_types`: At least one code of the catalogue; duplicates are folded. At most 100.
        `description`: At most 255 characters.
        `environment`: The environment of the API key.
        """
        return self._caller.send(
            CreateWebhookEndpointResult,
            "POST",
            "/v1/merchants/me/webhooks",
            body=given(
                {
                    "url": url,
                    "event_types": event_types,
                    "description": description,
                    "environment": environment,
                },
            ),
            is_idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def list(self, *, timeout: float | None = None) -> Page[WebhookEndpoint]:
        """List the webhook endpoints.

        A URL that was registered twice is listed twice, each with its own id.
        Scope `merchant:read`.
        """
        return self._caller.list(WebhookEndpoint, "GET", "/v1/merchants/me/webhooks", paging="none", timeout=timeout)

    def get(self, webhook_endpoint_id: str, /, *, timeout: float | None = None) -> WebhookEndpoint:
        """Read a webhook endpoint.

        Never with its signing secret: that is shown once, and can be rolled.
        Scope `merchant:read`.
        """
        return self._caller.send(
            WebhookEndpoint,
            "GET",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id),
            timeout=timeout,
        )

    def update(
        self,
        webhook_endpoint_id: str,
        /,
        *,
        status: Literal["active", "disabled"] | None = None,
        url: str | None = None,
        event_types: Sequence[Literal[
            "payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed", "authorization.captured",
            "authorization.canceled", "authorization.expired", "refund.succeeded", "refund.failed",
            "checkout_session.completed", "checkout_session.expired", "checkout_session.canceled", "test.ping",
        ] | str] | None = None,
        description: str | None = None,
        timeout: float | None = None,
    ) -> WebhookEndpoint:
        """Change an endpoint.

        At least one field; what is absent stays. A disabled endpoint gets no new deliveries; its history stays.
        Deliveries that wait go to a new URL, and new event types count from the next event on.
        Scope `merchant:write`.

        `status`: The new status.
        `url`: https only. At most 2,048 characters.
        `event_types`: At least one code of the catalogue; duplicates are folded. At most 100.
        `description`: At most 255 characters.
        """
        return self._caller.send(
            WebhookEndpoint,
            "PATCH",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id),
            body=given(
                {
                    "status": status,
                    "url": url,
                    "event_types": event_types,
                    "description": description,
                },
            ),
            timeout=timeout,
        )

    def delete(self, webhook_endpoint_id: str, /, *, timeout: float | None = None) -> None:
        """Delete an endpoint.

        Its pending deliveries stop.
        Scope `merchant:write`.
        """
        return self._caller.send_for_nothing(
            "DELETE",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id),
            timeout=timeout,
        )

    def roll_secret(self, webhook_endpoint_id: str, /, *, timeout: float | None = None) -> WebhookEndpointWithSecret:
        """Give an endpoint a new signing secret.

        Each secret before it signs on until 24 hours after it was replaced, at most the latest four: several `v1=`
        values in one header. Rolling again, because an answer was lost, ends none that your server may be using.
        Scope `merchant:write`.
        """
        return self._caller.send(
            WebhookEndpointWithSecret,
            "POST",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "roll-secret"),
            timeout=timeout,
        )

    def list_deliveries(
        self,
        webhook_endpoint_id: str,
        /,
        *,
        limit: int | None = None,
        after: str | None = None,
        status: Literal["pending", "delivered", "failed"] | None = None,
        event_type: str | None = None,
        timeout: float | None = None,
    ) -> Page[WebhookDelivery]:
        """List deliveries.

        Newest first, all of the last 94 days: ask for more with the last id of the page as `after` until `has_more`
        is false.
        Iterating reads page after page.
        Scope `merchant:read`.

        `limit`: How many to answer at most. 1 to 200.
        `after`: Only what is older than this one: the last id of the page before.
        `status`: Only this state.
        `event_type`: Only this event code. At most 64 characters.
        """
        return self._caller.list(
            WebhookDelivery,
            "GET",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "deliveries"),
            query=given(
                {
                    "limit": limit,
                    "after": after,
                    "status": status,
                    "event_type": event_type,
                },
            ),
            paging="after",
            timeout=timeout,
        )

    def get_delivery(
        self,
        webhook_endpoint_id: str,
        delivery_id: str,
        /,
        *,
        timeout: float | None = None,
    ) -> WebhookDeliveryWithAttempts:
        """Read a delivery with its attempts.

        What was tried, how long each step took, and what your server answered.
        Scope `merchant:read`.
        """
        return self._caller.send(
            WebhookDeliveryWithAttempts,
            "GET",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "deliveries", delivery_id),
            timeout=timeout,
        )

    def retry_failed(self, webhook_endpoint_id: str, /, *, since: str, timeout: float | None = None) -> WebhookRetryRun:
        """Send everything again that failed.

        Puts all deliveries of the endpoint back into the queue that were queued since a time and have failed, in the
        background. A repeat is harmless: what waits already is not queued twice.
        Scope `merchant:write`.

        `since`: RFC 3339: deliveries that were queued then or later. At most 40 characters.
        """
        return self._caller.send(
            WebhookRetryRun,
            "POST",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "retry-failed"),
            body=given({"since": since}),
            timeout=timeout,
        )

    def get_retry_run(
        self,
        webhook_endpoint_id: str,
        run_id: str,
        /,
        *,
        timeout: float | None = None,
    ) -> WebhookRetryRun:
        """Read how far a run has come.

        Of a retry of failed deliveries; `finished` once all of them are queued.
        Scope `merchant:read`.
        """
        return self._caller.send(
            WebhookRetryRun,
            "GET",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "retry-runs", run_id),
            timeout=timeout,
        )

    def get_health(
        self,
        webhook_endpoint_id: str,
        /,
        *,
        window_seconds: int | None = None,
        timeout: float | None = None,
    ) -> WebhookEndpointHealth:
        """See how an endpoint does.

        Of the deliveries that were queued in the last seconds, by default an hour.
        Scope `merchant:read`.

        `window_seconds`: How far back, seconds. 60 to 86,400.
        """
        return self._caller.send(
            WebhookEndpointHealth,
            "GET",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "health"),
            query=given({"window_seconds": window_seconds}),
            timeout=timeout,
        )

    def retry_delivery(
        self,
        webhook_endpoint_id: str,
        delivery_id: str,
        /,
        *,
        timeout: float | None = None,
    ) -> RetryWebhookDeliveryResult:
        """Send a delivery again.

        Puts it back into the queue, due now, with a fresh schedule.
        Scope `merchant:write`.
        """
        return self._caller.send(
            RetryWebhookDeliveryResult,
            "POST",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "deliveries", delivery_id, "retry"),
            timeout=timeout,
        )

    def test(self, webhook_endpoint_id: str, /, *, timeout: float | None = None) -> TestWebhookEndpointResult:
        """Send a test event.

        Emits a synthetic `test.ping` to the endpoint, subscribed or not. A disabled endpoint gets none: `sent` is
        false.
        Scope `merchant:write`.
        """
        return self._caller.send(
            TestWebhookEndpointResult,
            "POST",
            path_of("v1", "merchants", "me", "webhooks", webhook_endpoint_id, "test"),
            timeout=timeout,
        )
