"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""

from __future__ import annotations

from .._caller import Caller
from .api_keys import ApiKey, NewApiKey, ApiKeysResource
from .api_requests import ApiRequest, ApiRequestsResource
from .applications import Application, ApplicationsResource
from .audit_log import AuditEntry, AuditLogResource
from .checkout_sessions import (
    LineItem,
    CheckoutSession,
    Render,
    CreatedCheckoutSession,
    NewLineItem,
    CheckoutSessionsResource,
)
from .connectors import Connector, ConnectorsResource
from .disputes import DisputeEvidence, DisputeEvidenceState, DisputeFile, DisputeItem, DisputeRecord, DisputesResource
from .event_types import EventType, EventTypesResource
from .events import Event, EventsResource
from .merchant import Branding, Merchant, MerchantProfile, MerchantResource
from .payments import (
    AttemptCard,
    Card,
    CardSummary,
    Dispute,
    Verification,
    Refund,
    PaymentFailure,
    PaymentAttempt,
    Payment,
    PaymentItem,
    PaymentWebhookDelivery,
    RefundItem,
    PaymentsResource,
)
from .refunds import RefundResult, RefundsResource
from .webhook_endpoints import (
    CreateWebhookEndpointResult,
    DeliveryAttempt,
    RetryWebhookDeliveryResult,
    TestWebhookEndpointResult,
    WebhookDelivery,
    WebhookDeliveryWithAttempts,
    WebhookEndpoint,
    WebhookEndpointHealth,
    WebhookEndpointWithSecret,
    WebhookRetryRun,
    WebhookEndpointsResource,
)

__all__ = [
    "Resources",
    "ApiKey",
    "NewApiKey",
    "ApiKeysResource",
    "ApiRequest",
    "ApiRequestsResource",
    "Application",
    "ApplicationsResource",
    "AuditEntry",
    "AuditLogResource",
    "LineItem",
    "CheckoutSession",
    "Render",
    "CreatedCheckoutSession",
    "NewLineItem",
    "CheckoutSessionsResource",
    "Connector",
    "ConnectorsResource",
    "DisputeEvidence",
    "DisputeEvidenceState",
    "DisputeFile",
    "DisputeItem",
    "DisputeRecord",
    "DisputesResource",
    "EventType",
    "EventTypesResource",
    "Event",
    "EventsResource",
    "Branding",
    "Merchant",
    "MerchantProfile",
    "MerchantResource",
    "AttemptCard",
    "Card",
    "CardSummary",
    "Dispute",
    "Verification",
    "Refund",
    "PaymentFailure",
    "PaymentAttempt",
    "Payment",
    "PaymentItem",
    "PaymentWebhookDelivery",
    "RefundItem",
    "PaymentsResource",
    "RefundResult",
    "RefundsResource",
    "CreateWebhookEndpointResult",
    "DeliveryAttempt",
    "RetryWebhookDeliveryResult",
    "TestWebhookEndpointResult",
    "WebhookDelivery",
    "WebhookDeliveryWithAttempts",
    "WebhookEndpoint",
    "WebhookEndpointHealth",
    "WebhookEndpointWithSecret",
    "WebhookRetryRun",
    "WebhookEndpointsResource",
]


class Resources:
    """One object for each noun of the API."""

    def __init__(self, caller: Caller) -> None:
        self.checkout_sessions = CheckoutSessionsResource(caller)
        self.payments = PaymentsResource(caller)
        self.refunds = RefundsResource(caller)
        self.disputes = DisputesResource(caller)
        self.webhook_endpoints = WebhookEndpointsResource(caller)
        self.merchant = MerchantResource(caller)
        self.connectors = ConnectorsResource(caller)
        self.api_keys = ApiKeysResource(caller)
        self.event_types = EventTypesResource(caller)
        self.events = EventsResource(caller)
        self.api_requests = ApiRequestsResource(caller)
        self.audit_log = AuditLogResource(caller)
        self.applications = ApplicationsResource(caller)
