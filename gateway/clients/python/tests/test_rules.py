"""Tests without a server: retries, pages, webhooks, objects, errors and requests."""

from __future__ import annotations

import ast
import copy
import hashlib
import hmac
import json
import pickle
import random
import sys
import time
import unittest
from datetime import datetime, timezone
from decimal import Decimal
from email.utils import formatdate
from pathlib import Path
from typing import Any

import tollbooth

from tollbooth import (
    CheckoutSession,
    ConnectionFailedError,
    CreatedCheckoutSession,
    NotFoundError,
    Payment,
    PaymentSucceededEvent,
    SignatureVerificationError,
    TimedOutError,
    Tollbooth,
    UnknownEvent,
    verify_webhook,
    verify_webhook_object,
)
from tollbooth._errors import error_of
from tollbooth._json import parse_json
from tollbooth._request import NOT_GIVEN, body_bytes, checked_file, fields_of, path_of, query_text
from tollbooth._page import next_query
from tollbooth._retry import pause_before

API_KEY = "sk_test_" + "k" * 46
SECRET = "whsec_" + "a" * 43
ANOTHER = "whsec_" + "b" * 43
NOW = 1_800_000_000
BODY = b'{"type":"payment.succeeded","payment_id":"pay_x","status":"succeeded"}'


def error_with(status: int, headers: dict[str, str] | None = None, **envelope: Any) -> Any:
    return error_of(status, headers or {}, {"error": {"code": "some_code", "message": "words", **envelope}})


def state(**changes: Any) -> dict[str, Any]:
    return {"attempts": 1, "max_retries": 2, "is_repeatable": True, "left": 60.0, "random": 0.5, **changes}


class Retries(unittest.TestCase):
    def test_retries_409_429_502_and_503_only(self) -> None:
        tried = [status for status in range(400, 600) if pause_before(error_with(status), **state()) is not None]
        self.assertEqual(tried, [409, 429, 502, 503])

    def test_retries_a_lost_connection_only_if_the_request_is_repeatable(self) -> None:
        lost = ConnectionFailedError("lost", code="connection_failed")
        late = TimedOutError("late", code="timed_out")
        for error in (lost, late, error_of(502, {}, None)):
            self.assertIsNotNone(pause_before(error, **state()))
            self.assertIsNone(pause_before(error, **state(is_repeatable=False)))
        self.assertIsNotNone(pause_before(error_with(503), **state(is_repeatable=False)))

    def test_bounds_pauses_by_the_remaining_time_with_exponential_growth(self) -> None:
        drawn = random.Random(7)
        for _ in range(2_000):
            wait = drawn.choice([None, "7"])
            error = error_with(429, {"retry-after": wait} if wait else {})
            attempts, most = drawn.randint(1, 12), drawn.randint(0, 10)
            left, share = drawn.uniform(0, 60), drawn.random()
            pause = pause_before(
                error, attempts=attempts, max_retries=most, is_repeatable=True, left=left, random=share
            )
            if pause is not None:
                least = error.retry_after or 0
                self.assertTrue(attempts <= most and pause < left)
                self.assertTrue(least <= pause <= least + min(0.5 * 2 ** (attempts - 1), 8))

    def test_reads_retry_after_as_seconds_or_a_date_and_ignores_other_values(self) -> None:
        self.assertEqual(error_with(429, {"retry-after": "7"}).retry_after, 7)
        self.assertGreater(error_with(429, {"retry-after": formatdate(time.time() + 60, usegmt=True)}).retry_after, 50)
        self.assertIsNone(error_with(429, {"retry-after": "soon"}).retry_after)


class Errors(unittest.TestCase):
    def test_an_error_message_has_all_invalid_fields_code_status_and_request_id(self) -> None:
        details = [
            {"field": "amount", "problem": "must be at least 1"},
            {"field": "", "problem": "must be an object"},
        ]
        error = error_with(400, {"request-id": "req_1"}, details=details)
        wanted = "amount must be at least 1; the body must be an object (some_code, 400, req_1)"
        self.assertEqual(str(error), wanted)
        self.assertEqual(error.details, (("amount", "must be at least 1"), ("", "must be an object")))
        self.assertEqual(error.request_id, "req_1")
        self.assertIsInstance(error_with(404), NotFoundError)

    def test_any_body_becomes_an_error(self) -> None:
        for body in (None, [], "x", {"error": 1}, {"error": {"code": 1}}, {"error": {"code": "a", "message": "b", "details": [1]}}):
            self.assertTrue(str(error_of(500, {}, body)))

    def test_removes_echoed_keys_and_secrets_from_errors(self) -> None:
        for key in (API_KEY, "any-other-words-as-a-key"):
            echo = f"refused: Bearer {key} {SECRET}"
            envelope = {"code": key, "message": echo, "details": [{"field": key, "problem": echo}]}
            error = error_of(400, {"request-id": key}, {"error": envelope}, key)
            for text in (str(error), repr(error), repr(vars(error))):
                self.assertNotIn(key[12:], text)
                self.assertNotIn(SECRET, text)
            self.assertEqual((error.code, error.request_id), ("[secret]", "[secret]"))

    def test_refuses_json_beyond_100_levels_at_any_depth(self) -> None:
        for levels, is_accepted in ((100, True), (101, False), (900, False), (10_000, False), (1_000_000, False)):
            for opens, closes in (("[", "]"), ('{"a":', "}")):
                body = (opens * levels + ("1" if opens != "[" else "") + closes * levels).encode()
                if is_accepted:
                    parse_json(body)
                else:
                    self.assertRaises(ValueError, parse_json, body)
        deep = [[]]  # type: ignore[var-annotated]
        for _ in range(10_000):
            deep = [deep]
        problem = {"error": {"code": "a", "message": "b", "details": [{"field": deep, "problem": deep}]}}
        self.assertEqual(error_of(400, {}, problem).details, (("", ""),))


class Pages(unittest.TestCase):
    def test_requests_the_next_page_by_id_offset_or_position_and_always_advances(self) -> None:
        data = [{"id": "pay_2"}, {"id": "pay_1"}]
        more = {"data": data, "has_more": True, "next_cursor": 4}
        last = {"data": data, "has_more": False, "next_cursor": 0}
        self.assertEqual(next_query({"limit": 2, "offset": 2}, more, "after"), {"limit": 2, "after": "pay_1"})
        self.assertEqual(next_query({"limit": 2, "offset": 2}, more, "offset"), {"limit": 2, "offset": 4})
        positions = {"data": data, "has_more": True, "next_position": 9}
        following = next_query({"limit": 2, "after_position": 7}, positions, "after")
        self.assertEqual(following, {"limit": 2, "after_position": 9})
        for query, body, paging in [
            ({"after_position": 9}, positions, "after"),
            ({"after_position": 7}, {**positions, "has_more": False}, "after"),
            ({}, more, "none"),
            ({}, {"data": [], "has_more": True}, "after"),
            ({"after": "pay_1"}, more, "after"),
            ({"offset": 4}, more, "offset"),
            ({}, last, "after"),
            ({}, last, "offset"),
        ]:
            self.assertIsNone(next_query(query, body, paging))  # type: ignore[arg-type]


class Webhooks(unittest.TestCase):
    def sign(self, body: bytes, at: int = NOW, key: str = SECRET) -> str:
        return hmac.new(key.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()

    def header(self, *values: str, at: int = NOW) -> str:
        return ",".join([f"t={at}", *(f"v1={value}" for value in values)])

    def refusal(self, body: bytes, header: str | None) -> str:
        with self.assertRaises(SignatureVerificationError) as caught:
            verify_webhook(body, header, SECRET, now=NOW)
        return str(caught.exception)

    def test_accepts_a_genuine_delivery(self) -> None:
        genuine = self.sign(BODY)
        for values in ([genuine], ["0" * 64, genuine], [genuine, "0" * 64]):
            event = verify_webhook(BODY, self.header(*values), SECRET, now=NOW)
            assert isinstance(event, PaymentSucceededEvent)
            self.assertEqual((event.type, event.payment_id), ("payment.succeeded", "pay_x"))
        verify_webhook(BODY, self.header(genuine), [ANOTHER, SECRET], now=NOW)
        verify_webhook(BODY, self.header(genuine), SECRET, now=NOW + 300)
        verify_webhook(BODY, self.header(genuine), SECRET, now=NOW + 301, tolerance=301)
        later = b'{"type":"balance.changed","balance_id":"bal_x"}'
        event = verify_webhook(later, self.header(self.sign(later)), SECRET, now=NOW)
        assert isinstance(event, UnknownEvent)
        self.assertEqual((event.type, event.balance_id), ("balance.changed", "bal_x"))

    def test_returns_the_object_of_a_delivery_to_an_endpoint_with_objects(self) -> None:
        body = b'{"type":"payment.succeeded","id":"evt_x","created_at":"x","sequence":4,"data":{"id":"pay_x","amount":1050}}'
        event = verify_webhook_object(body, self.header(self.sign(body)), SECRET, now=NOW)
        assert isinstance(event.data, Payment)
        self.assertEqual((event.id, event.sequence, event.data.amount), ("evt_x", 4, 1050))
        ping = b'{"type":"test.ping","created_at":"x"}'
        self.assertIsNone(verify_webhook_object(ping, self.header(self.sign(ping)), SECRET, now=NOW).data)

    def test_refuses_changed_forged_delayed_and_malformed_deliveries_with_the_cause(self) -> None:
        genuine = self.header(self.sign(BODY))
        seen = [
            (self.refusal(BODY, None), "header is missing"),
            (self.refusal(BODY, ""), "header is missing"),
            (self.refusal(BODY, "v1=abc"), "look like t="),
            (self.refusal(BODY, f"{genuine},t={NOW + 1}"), "look like t="),
            (self.refusal(BODY, self.header()), "look like t="),
            (self.refusal(BODY, self.header("é" * 64)), "look like t="),
            (self.refusal(BODY + b" ", genuine), "no v1 signature matches"),
            (self.refusal(BODY, self.header(self.sign(BODY, key=ANOTHER))), "no v1 signature matches"),
            (self.refusal(BODY, self.header(self.sign(BODY), at=NOW - 301)), "no v1 signature matches"),
            (self.refusal(BODY, self.header(self.sign(BODY, NOW - 301), at=NOW - 301)), "signed 301 s ago, tolerance is 300 s"),
            (self.refusal(BODY, self.header(self.sign(BODY, NOW + 301), at=NOW + 301)), "signed 301 s from now"),
            (self.refusal(b"[]", self.header(self.sign(b"[]"))), "the body is not an event"),
            (self.refusal(b"\xff", self.header(self.sign(b"\xff"))), "the body is not an event"),
        ]
        for reason, wanted in seen:
            self.assertIn(wanted, reason)
            self.assertNotIn("whsec_", reason)

    def test_raises_a_type_error_for_a_parsed_body_or_a_malformed_secret(self) -> None:
        header = self.header(self.sign(BODY))
        wrong: list[tuple[Any, Any]] = [(json.loads(BODY), SECRET), (BODY.decode(), SECRET), (BODY, ""), (BODY, [])]
        for body, secret in [*wrong, (BODY, "sk_test_key"), (BODY, [SECRET, None])]:
            with self.assertRaises(TypeError):
                verify_webhook(body, header, secret, now=NOW)


class Objects(unittest.TestCase):
    def test_fields_are_attributes_with_none_if_absent_and_an_error_if_misspelt(self) -> None:
        payment = Payment({"id": "pay_x", "amount": 5, "card": {"last4": "4242", "new": 1}, "refunds": [{"id": "re_x"}]})
        self.assertEqual((payment.id, payment["amount"], payment.card.last4), ("pay_x", 5, "4242"))  # type: ignore[union-attr]
        self.assertEqual((payment.refunds[0].id, payment.dispute, "dispute" in payment), ("re_x", None, False))
        self.assertEqual(payment.card["new"], 1)  # type: ignore[index]
        self.assertEqual(payment.to_dict()["card"], {"last4": "4242", "new": 1})
        self.assertEqual(payment, copy.deepcopy(payment))
        self.assertEqual(pickle.loads(pickle.dumps(payment)), payment)
        with self.assertRaises(AttributeError):
            payment.amonut  # type: ignore[attr-defined]
        with self.assertRaises(KeyError):
            payment["dispute"]

    def test_secrets_are_readable_but_not_printed(self) -> None:
        session = CreatedCheckoutSession({"id": "cs_x", "session_secret": "cs_secret_y", "render": {"client_secret": "z9"}})
        for text in (repr(session), str(session), f"{[session]}"):
            self.assertIn("cs_x", text)
            self.assertNotIn("cs_secret_y", text)
            self.assertNotIn("z9", text)
        self.assertEqual(session.session_secret, "cs_secret_y")

    def test_tolerates_unexpected_values(self) -> None:
        self.assertEqual(CheckoutSession({"metadata": 5, "_data": 1}).metadata, 5)
        self.assertEqual(Payment({"card": "none"}).card, "none")


class Requests(unittest.TestCase):
    def test_omits_parameters_that_are_not_given_and_sends_none_for_clearable_fields(self) -> None:
        values = {"name": None, "phone": None, "email": "a@b", "website": NOT_GIVEN}
        self.assertEqual(fields_of(values, ("phone", "website")), {"phone": None, "email": "a@b"})
        self.assertEqual(query_text({"q": "a b&c", "limit": 1, "is": True}), "?q=a+b%26c&limit=1&is=true")
        self.assertEqual(query_text({}), "")
        self.assertEqual(body_bytes({"a": "é"}), '{"a":"é"}'.encode())

    def test_refuses_arguments_that_would_not_arrive_unchanged(self) -> None:
        for part in ("", "..", "a/b", "pay_x?", "pay_x\n", None, 5):
            with self.assertRaises(TypeError):
                path_of("v1", part)  # type: ignore[arg-type]
        for amount in (float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                body_bytes({"amount": amount})
        with self.assertRaises(TypeError):
            body_bytes({"amount": Decimal("10.50")})
        with self.assertRaisesRegex(TypeError, "isoformat"):
            query_text({"from": datetime.now(timezone.utc)})
        for content, kind in (("text", "application/pdf"), (b"", "pdf"), (b"", "a/b\r\nX: y")):
            with self.assertRaises(TypeError):
                checked_file(content, kind)  # type: ignore[arg-type]
        self.assertEqual(checked_file(bytearray(b"a"), "image/png"), (b"a", "image/png"))
        client = Tollbooth(api_key=API_KEY, base_url="https://pay.example")
        for key in ("", "ключ", "a" * 256, "a\n"):
            with self.assertRaises(ValueError):
                client.refunds.create("pay_x", idempotency_key=key)


class Settings(unittest.TestCase):
    def refusal(self, **options: Any) -> str:
        with self.assertRaises(ValueError) as caught:
            Tollbooth(**options)
        return f"{caught.exception!r} {caught.exception.__cause__!r}"

    def test_accepts_https_base_urls_and_http_for_localhost_only(self) -> None:
        good = ["https://pay.example", "https://pay.example/tollbooth/", "http://localhost:8080", "http://127.0.0.1:1"]
        for base_url in [*good, "http://[::1]:8080", "http://shop.localhost"]:
            Tollbooth(api_key=API_KEY, base_url=base_url)
        bad = ["http://pay.example", "http://localhost.pay.example", "http://127.0.0.1.pay.example", "ftp://localhost"]
        unclear = ["pay.example", "", "https://user:word@pay.example", "https://pay.example/?a=b", "https://a:x"]
        for base_url in [*bad, *unclear, "https://pay.example/a b", "https://pay.example/a\r\nb"]:
            self.assertIn("base_url must", self.refusal(api_key=API_KEY, base_url=base_url))

    def test_never_shows_the_key_in_an_error_a_printed_client_or_a_copy(self) -> None:
        client = Tollbooth(api_key=API_KEY, base_url="https://pay.example")
        texts = [
            self.refusal(api_key=API_KEY + "\n", base_url="https://pay.example"),
            self.refusal(api_key=API_KEY, base_url=f"https://{API_KEY}@pay.example"),
            self.refusal(api_key=API_KEY, base_url=API_KEY),
            self.refusal(api_key=API_KEY, base_url="https://pay.example", max_retries=11),
            f"{client!r} {client} {vars(client)} {vars(client.payments)} {vars(client.payments._caller)}",
            f"{vars(client._transport)}",
        ]
        for text in texts:
            self.assertNotIn(API_KEY, text)
        for writes in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaises(TypeError):
                writes(client)


class Package(unittest.TestCase):
    def test_runs_on_python_3_10_with_the_standard_library_only(self) -> None:
        modules = sorted(Path(tollbooth.__file__).parent.rglob("*.py"))
        self.assertGreater(len(modules), 20)
        for module in modules:
            tree = ast.parse(module.read_text(), feature_version=(3, 10))
            for node in ast.walk(tree):
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in names:
                    self.assertIn(name.split(".")[0], sys.stdlib_module_names, str(module))

    def test_exports_the_public_names(self) -> None:
        for name in ("Tollbooth", "Payment", "PaymentSucceededEvent", "verify_webhook", "NOT_GIVEN", "__version__"):
            self.assertTrue(hasattr(tollbooth, name), name)


if __name__ == "__main__":
    unittest.main()
