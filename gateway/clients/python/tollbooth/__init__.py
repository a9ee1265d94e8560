"""The Tollbooth library for a merchant's backend: an object per API resource, error classes and webhook verification.
Requires Python 3.10 or newer and no other package.
"""

from ._answer import AnswerFacts, TollboothObject, answer_of
from ._client import Tollbooth
from ._errors import (
    AuthenticationError,
    ConflictError,
    ConnectionFailedError,
    ConnectorError,
    FieldProblem,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RefusedError,
    ServiceError,
    SignatureVerificationError,
    TimedOutError,
    TollboothError,
    UnexpectedAnswerError,
)
from ._page import Page
from ._request import NOT_GIVEN, NotGiven
from ._webhook import WebhookObject, verify_webhook, verify_webhook_object
from .gen import resources as _resources, webhook_events as _webhook_events
from .gen.resources import *
from .gen.webhook_events import *
from .gen.contract import VERSION as __version__

__all__ = [
    "AnswerFacts",
    "TollboothObject",
    "answer_of",
    "Tollbooth",
    "AuthenticationError",
    "ConflictError",
    "ConnectionFailedError",
    "ConnectorError",
    "FieldProblem",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RefusedError",
    "ServiceError",
    "SignatureVerificationError",
    "TimedOutError",
    "TollboothError",
    "UnexpectedAnswerError",
    "Page",
    "NOT_GIVEN",
    "NotGiven",
    "WebhookObject",
    "verify_webhook",
    "verify_webhook_object",
    "__version__",
]
__all__ += _resources.__all__ + _webhook_events.__all__
