"""A list is its first page; iterating it reads all pages."""

from __future__ import annotations

from typing import Any, Callable, Generic, Iterator, Literal, Mapping, TypeVar

from ._answer import AnswerFacts

Item = TypeVar("Item")
Paging = Literal["after", "offset", "none"]


class Page(Generic[Item]):
    """A page of a list. Iterating yields every object of this and all following pages."""

    def __init__(
        self,
        data: list[Item],
        body: Mapping[str, Any],
        read_next: Callable[[], Page[Item]] | None,
        facts: AnswerFacts | None = None,
    ) -> None:
        self.data = data
        self.total = _integer(body.get("total"))
        """Number of objects that match the filters; None if the list does not count them."""
        self.next_position = _integer(body.get("next_position"))
        """Where a list by `after_position` goes on: store it, and pass it next time."""
        self.has_more = read_next is not None
        """Whether more pages follow."""
        self._read_next = read_next
        self._facts = facts

    def next_page(self) -> Page[Item] | None:
        """None after the last page."""
        return None if self._read_next is None else self._read_next()

    def pages(self) -> Iterator[Page[Item]]:
        """This page and all following ones."""
        page: Page[Item] | None = self
        while page is not None:
            yield page
            page = page.next_page()

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.data

    def __repr__(self) -> str:
        return f"Page({len(self.data)} of {'an unknown number' if self.total is None else self.total})"


def next_query(query: Mapping[str, Any], body: Mapping[str, Any], paging: Paging) -> dict[str, Any] | None:
    """Query of the next page; None after the last one. Each query advances, so iteration always ends."""
    if query.get("after_position") is not None:
        position = _integer(body.get("next_position"))
        is_more = body.get("has_more") is True and position is not None and position > query["after_position"]
        return {**query, "after_position": position} if is_more else None
    data = body.get("data") or [None]
    last = data[-1]
    if paging == "none" or not isinstance(last, dict):
        return None
    filters = {name: value for name, value in query.items() if name != "offset"}
    if paging == "after":
        last_id = last.get("id")
        is_more = body.get("has_more") is True and isinstance(last_id, str) and last_id != query.get("after")
        return {**filters, "after": last_id} if is_more else None
    following = body.get("next_cursor")
    is_more = isinstance(following, int) and following > query.get("offset", 0)
    return {**filters, "offset": following} if is_more else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) else None
