"""Answers as objects: fields are attributes, unknown ones are kept, secret ones are hidden where they are only printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Iterator, Mapping, NamedTuple, TypeVar

from .gen.contract import SECRET_FIELDS


class AnswerFacts(NamedTuple):
    """About the answer that a result came with."""

    status: int
    request_id: str | None
    """Names the request in Tollbooth's logs."""
    is_replay: bool
    """It is the stored answer of an earlier request with the same idempotency key."""


def facts_of(status: int, headers: Mapping[str, str]) -> AnswerFacts:
    return AnswerFacts(status, headers.get("request-id"), headers.get("idempotent-replayed") == "true")


class TollboothObject:
    """An object of the API. `payment.amount` and `payment["amount"]` are the same; an optional field without a value is
    None as an attribute; a field that is newer than this library is there as well."""

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
        """The names of its fields."""
        return iter(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TollboothObject) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f"{name}={'[secret]' if name in SECRET_FIELDS else repr(value)}" for name, value in self._data.items())
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, secrets included: what the API answered."""
        return {name: _plain(value) for name, value in self._data.items()}


Kind = TypeVar("Kind", bound=TollboothObject)


def answer_of(result: Any) -> AnswerFacts | None:
    """What is known of a result's answer; None for what no call of this library returned."""
    return getattr(result, "_facts", None)


def _wrapped(kind: type[TollboothObject] | None, value: Any) -> Any:
    if isinstance(value, list):
        return [_wrapped(kind, each) for each in value]
    return kind(value) if kind is not None and isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.to_dict() if isinstance(value, TollboothObject) else value
