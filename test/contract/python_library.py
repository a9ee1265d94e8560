"""Scenes of the Python library's test: each prints what it saw as JSON, and the test judges it.

    python3 python_library.py <scene> <input as JSON>
"""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any, Callable

import tollbooth
from tollbooth import Tollbooth, TollboothError, answer_of, verify_webhook


def post(url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """As the buyer's browser does."""
    data = None if body is None else json.dumps(body).encode()
    headers = {} if body is None else {"content-type": "application/json"}
    request = urllib.request.Request(url, data=data, headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def paid(client: Tollbooth, gateway: str, amount: int) -> str:
    session = client.checkout_sessions.create(amount=amount, currency="EUR")
    form = session.render.frame_url.partition("#")[0]
    card = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2040, "cvc": "123"}
    post(f"{form}/pay", {"client_secret": session.render.client_secret, **card})
    return post(f"{gateway}/v1/checkout/{session.id}/confirm?secret={session.session_secret}")["payment_id"]


def day(given: dict[str, Any]) -> Any:
    client = Tollbooth(api_key=given["api_key"], base_url=given["gateway"])
    payment_id = paid(client, given["gateway"], 1050)
    refund = client.refunds.create(payment_id, amount=400, idempotency_key="refund of order 7")
    again = client.refunds.create(payment_id, amount=400, idempotency_key="refund of order 7")
    payment = client.payments.get(payment_id)
    session = client.checkout_sessions.create(amount=1000, currency="EUR")
    facts = answer_of(again)
    return {
        "payment_id": payment_id,
        "status": payment.status,
        "refunded": [payment.refunded_amount, payment["refunded_amount"], payment.refunds[0].amount],
        "absent": payment.dispute,
        "same": refund.id == again.id,
        "replays": [answer_of(refund).is_replay, facts.is_replay],
        "request_id": facts.request_id,
        "secrets": [session.session_secret, session.render.client_secret, given["api_key"]],
        "shown": [repr(session), str(session), repr(client), repr(vars(client)), str(client.payments.__dict__)],
        "kept": session.to_dict()["render"]["client_secret"] == session.render.client_secret,
    }


def webhook(given: dict[str, Any]) -> Any:
    event = verify_webhook(given["body"].encode(), given["header"], given["secret"])
    return [type(event).__name__, event.type, event.payment_id]


def pages(given: dict[str, Any]) -> Any:
    client = Tollbooth(api_key=given["api_key"], base_url=given["gateway"])
    made = [client.checkout_sessions.create(amount=100, currency="EUR").id for _ in range(5)][::-1]
    seen = []
    for session in client.checkout_sessions.list(limit=2):
        if len(seen) == 1:  # one that comes meanwhile moves nothing
            client.checkout_sessions.create(amount=100, currency="EUR")
        seen.append(session.id)
    first = client.checkout_sessions.list(limit=2, offset=1)
    second = first.next_page()
    return {
        "same": seen == made,
        "first": [each.id for each in first.data] == made[:2],
        "facts": [first.total, first.has_more],
        "second": [each.id for each in second.data] == made[2:4],
        "sizes": [len(page.data) for page in client.checkout_sessions.list(limit=4).pages()],
        "types": "payment.succeeded" in [each.code for each in client.event_types.list()],
    }


def failure(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        call()
    except TollboothError as error:
        return {
            "kind": type(error).__name__,
            "code": error.code,
            "fields": sorted(field for field, _ in error.details),
            "text": f"{error} {error!r} {vars(error)} {error.__cause__!r}",
            "wait": error.retry_after,
            "attempts": error.attempts,
        }
    except (TypeError, ValueError) as error:
        return {"kind": type(error).__name__, "text": str(error)}
    return {"kind": "none"}


def errors(given: dict[str, Any]) -> Any:
    gateway = given["gateway"]
    client = Tollbooth(api_key=given["api_key"], base_url=gateway)
    stranger = Tollbooth(api_key=given["wrong_key"], base_url=gateway)
    reader = Tollbooth(api_key=given["narrow_key"], base_url=gateway)
    hurried = Tollbooth(api_key=given["api_key"], base_url=given["tight"], max_retries=0)
    waiting = Tollbooth(api_key=given["api_key"], base_url=given["away"], max_retries=0)
    sessions = client.checkout_sessions
    sessions.create(amount=1000, currency="EUR", idempotency_key="one key")
    payment_id = paid(client, gateway, 500)
    limited = [failure(hurried.merchant.get) for _ in range(4)]
    return {
        "invalid": failure(lambda: sessions.create(amount=0, currency="euro")),
        "unknown": failure(stranger.merchant.get),
        "denied": failure(lambda: reader.checkout_sessions.create(amount=1000, currency="EUR")),
        "absent": failure(lambda: client.payments.get("pay_01jd3v9q6k8m2n4p6r8t0v2x4z")),
        "reused": failure(lambda: sessions.create(amount=7, currency="EUR", idempotency_key="one key")),
        "refused": failure(lambda: client.refunds.create(payment_id, amount=501)),
        "limited": next((each for each in limited if each["kind"] != "none"), None),
        "away": failure(waiting.checkout_sessions.list),
        "open": failure(Tollbooth(base_url=gateway).merchant.get),
        "draft": Tollbooth(base_url=gateway).applications.create(legal_name="Lemon Books GmbH").status,
    }


def call(given: dict[str, Any]) -> Any:
    """One call through the troubled way."""
    pauses: list[float] = []
    client = Tollbooth(
        api_key=given["api_key"],
        base_url=given["way"],
        random=lambda: 0.5,
        sleep=pauses.append,
        timeout=given.get("timeout", 30),
        max_retries=given.get("max_retries", 2),
    )
    calls: dict[str, Callable[[], Any]] = {
        "create": lambda: client.checkout_sessions.create(amount=1000, currency="EUR"),
        "keyed": lambda: client.checkout_sessions.create(amount=1000, currency="EUR", idempotency_key="of the caller"),
        "key": lambda: client.api_keys.create(name="once"),
        "read": client.merchant.get,
        "payment": lambda: client.payments.get("pay_x"),
    }
    seen: dict[str, Any] = {}

    def run() -> None:
        seen["facts"] = answer_of(calls[given["call"]]())

    return {**failure(run), "pauses": pauses, **seen}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](json.loads(sys.argv[2]))))
