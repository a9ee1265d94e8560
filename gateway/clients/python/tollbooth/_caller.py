"""Sends operations: adds headers and an idempotency key that is the same for all attempts, retries where allowed, and
converts responses to objects or errors."""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Mapping, NamedTuple

from ._answer import Kind, facts_of
from ._errors import TollboothError, UnexpectedAnswerError, error_of
from ._request import body_bytes, checked_file, query_text
from ._json import parse_json
from ._page import Page, Paging, next_query
from ._retry import pause_before
from ._transport import Transport, WireAnswer

_KEY = re.compile(r"[\x20-\x7e]{1,255}")


class Settings(NamedTuple):
    api_key: Callable[[], str | None]
    """A function, so that printed or copied settings do not contain the key."""
    prefix: str
    max_retries: int
    timeout: float
    total_timeout: float
    user_agent: str
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    random: Callable[[], float]


class Caller:
    def __init__(self, settings: Settings, transport: Transport) -> None:
        self._settings = settings
        self._transport = transport

    def send(self, kind: type[Kind], method: str, path: str, **call: Any) -> Kind:
        answer = self._answer(method, path, **call)
        body = _json_of(answer)
        if not isinstance(body, dict):
            raise UnexpectedAnswerError("the response is not an object", code="unexpected_answer", status=answer.status)
        return kind(body, facts_of(answer.status, answer.headers))

    def send_for_nothing(self, method: str, path: str, **call: Any) -> None:
        self._answer(method, path, **call)

    def send_for_bytes(self, method: str, path: str, **call: Any) -> bytes:
        return self._answer(method, path, **call).body

    def list(
        self,
        kind: type[Kind],
        method: str,
        path: str,
        *,
        paging: Paging,
        query: Mapping[str, Any] | None = None,
        **call: Any,
    ) -> Page[Kind]:
        answer = self._answer(method, path, query=query, **call)
        body = _json_of(answer)
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, list):
            raise UnexpectedAnswerError("the response is not a list", code="unexpected_answer", status=answer.status)
        following = next_query(query or {}, body, paging)

        def read_next() -> Page[Kind]:
            return self.list(kind, method, path, paging=paging, query=following, **call)

        return Page(
            [kind(each) for each in data if isinstance(each, dict)],
            body,
            None if following is None else read_next,
            facts_of(answer.status, answer.headers),
        )

    def _answer(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        file: tuple[bytes, str] | None = None,
        is_idempotent: bool = False,
        is_open: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> WireAnswer:
        settings = self._settings
        if timeout is not None and not 0 < timeout <= 600:
            raise ValueError("timeout must be at most 600 seconds")
        headers = self._headers(is_idempotent, is_open, idempotency_key)
        target = settings.prefix + path + query_text(query or {})
        sent = None
        if body is not None:
            sent, headers["Content-Type"] = body_bytes(body), "application/json"
        elif file is not None:
            sent, headers["Content-Type"] = checked_file(*file)
        is_repeatable = method == "GET" or is_idempotent
        ends_at = settings.clock() + settings.total_timeout
        attempts = 0
        # Ends after max_retries retries at the latest, by pause_before.
        while True:
            attempts += 1
            left = max(0.001, ends_at - settings.clock())
            limit = min(settings.timeout if timeout is None else timeout, left)
            failure = self._try(method, target, headers, sent, timeout=limit, fresh=not is_repeatable)
            if isinstance(failure, WireAnswer):
                return failure
            failure.attempts = attempts
            pause = pause_before(
                failure,
                attempts=attempts,
                max_retries=settings.max_retries,
                is_repeatable=is_repeatable,
                left=ends_at - settings.clock(),
                random=settings.random(),
            )
            if pause is None:
                raise failure
            settings.sleep(pause)

    def _try(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, *, timeout: float, fresh: bool
    ) -> WireAnswer | TollboothError:
        try:
            answer = self._transport.send(method, target, headers, body, timeout=timeout, fresh=fresh)
        except TollboothError as error:
            return error
        if answer.status < 300:
            return answer
        try:
            parsed = parse_json(answer.body)
        except ValueError:
            parsed = None  # error_of reports a missing envelope
        return error_of(answer.status, answer.headers, parsed, self._settings.api_key())

    def _headers(self, is_idempotent: bool, is_open: bool, key: str | None) -> dict[str, str]:
        settings = self._settings
        headers = {"Accept": "application/json", "User-Agent": settings.user_agent}
        if not is_open:
            api_key = settings.api_key()
            if api_key is None:
                raise TypeError("this operation requires a client with an api_key")
            headers["Authorization"] = f"Bearer {api_key}"
        if is_idempotent:
            chosen = os.urandom(16).hex() if key is None else key
            if not isinstance(chosen, str) or not _KEY.fullmatch(chosen):
                raise ValueError("idempotency_key must have 1 to 255 printable ASCII characters")
            headers["Idempotency-Key"] = chosen
        return headers


def _json_of(answer: WireAnswer) -> Any:
    try:
        return parse_json(answer.body)
    except ValueError:
        # Without the cause: its message quotes the text, which may contain a secret.
        raise UnexpectedAnswerError(
            f"the response (HTTP {answer.status}) is not Tollbooth's JSON",
            code="unexpected_answer",
            status=answer.status,
            request_id=answer.headers.get("request-id"),
        ) from None
