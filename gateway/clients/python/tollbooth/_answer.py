"""Responses as objects with all fields as attributes; printing an object hides its secret fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Iterator, Mapping, NamedTuple, TypeVar

from .gen.contract import SECRET_FIELDS


class AnswerFacts(NamedTuple):
    """About the response of a result."""

    status: int
    request_id: str | None
    """Id of the request in Tollbooth's logs."""
    is_replay: bool
    """True for the stored response of an earlier request with the same idempotency key."""


def facts_of(status: int, headers: Mapping[str, str]) -> AnswerFacts:
    return AnswerFacts(status, headers.get("request-id"), headers.get("idempotent-replayed") == "true")


class TollboothObject:
    """An object of the API. `payment.amount` equals `payment["amount"]`. An optional field without a value is None as an
    attribute. Fields that are newer than this library are included."""

    __slots__ = ("_data", "_facts")
    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {}
    _data: dict[str, Any]
    _facts: AnswerFacts | None

    def __init__(self, data: Mapping[str, Any], facts: AnswerFacts | None = None) -> None:
        kinds = self._nested
        self._data = {name: _wrapped(kinds.get(name), value) for name, value in data.items()}
        self._facts = facts

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                if name in self._data:
                    return self._data[name]
                if any(name in getattr(kind, "__annotations__", {}) for kind in type(self).__mro__):
                    return None
            raise AttributeError(f"{type(self).__name__} has no {name}")

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __contains__(self, name: object) -> bool:
        return name in self._data

    def __iter__(self) -> Iterator[str]:
        """Names of the fields."""
        return iter(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TollboothObject) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f"{name}={'[secret]' if name in SECRET_FIELDS else repr(value)}" for name, value in self._data.items())
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """The response as plain dicts and lists, including secrets."""
        return {name: _plain(value) for name, value in self._data.items()}


Kind = TypeVar("Kind", bound=TollboothObject)


def answer_of(result: Any) -> AnswerFacts | None:
    """About the response of a result; None for an object that this library did not return."""
    return getattr(result, "_facts", None)


def _wrapped(kind: type[TollboothObject] | None, value: Any) -> Any:
    if isinstance(value, list):
        return [_wrapped(kind, each) for each in value]
    return kind(value) if kind is not None and isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.to_dict() if isinstance(value, TollboothObject) else value
