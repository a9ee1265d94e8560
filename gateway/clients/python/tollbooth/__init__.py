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
from ._webhook import verify_webhook
from .gen.resources import *
from .gen.webhook_events import *
from .gen.contract import VERSION as __version__
