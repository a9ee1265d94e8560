"""The Tollbooth library for a merchant's backend: one object for each noun of the API, errors with classes,
webhooks that are verified. Nothing but Python 3.10 or newer is needed.
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
from ._given import NOT_GIVEN, NotGiven
from ._webhook import verify_webhook
from .gen.resources import *
from .gen.webhook_events import *
from .gen.contract import VERSION as __version__
