"""The client and its options. No message, repr or copy of the object contains the key."""

from __future__ import annotations

import random
import re
import ssl
import sys
import time
from typing import Callable, NoReturn
from urllib.parse import SplitResult, urlsplit

from ._caller import Caller, Settings
from ._transport import Transport
from .gen.contract import VERSION
from .gen.resources import Resources


class Tollbooth(Resources):
    """A client for one Tollbooth with one API key. Create it once and share it between threads.

    client = Tollbooth(api_key=os.environ["TOLLBOOTH_KEY"], base_url="https://pay.example")
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None = None,
        max_retries: int = 2,
        timeout: float = 30.0,
        total_timeout: float = 60.0,
        answer_bytes_max: int = 16 * 1024 * 1024,
        ssl_context: ssl.SSLContext | None = None,
        app_name: str = "",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        """`api_key`: `sk_test_…` or `sk_live_…`; only onboarding works without a key.

        `base_url`: URL of your Tollbooth: https, or http on localhost. A path before `/v1` is kept.
        `max_retries`: maximum number of retries. `timeout`: seconds for one attempt, from connecting to the last byte
        of the response; `total_timeout`: for all attempts and pauses. `answer_bytes_max`: limit of a response.
        `ssl_context`: replaces the platform's, for your own certificates. `app_name`: added to the User-Agent.
        `clock`, `sleep`, `random`: replaceable in tests.
        """
        if api_key is not None and not (isinstance(api_key, str) and re.fullmatch(r"[\x21-\x7e]{8,200}", api_key)):
            raise ValueError("api_key must be a complete API key (sk_test_… or sk_live_…), without spaces or line breaks")
        if not re.fullmatch(r"[\x20-\x7e]{0,100}", app_name):
            raise ValueError("app_name must be at most 100 ASCII characters")
        if not 0 <= max_retries <= 10:
            raise ValueError("max_retries must be 0 to 10")
        if not 0 < timeout <= 600 or not 0 < total_timeout <= 3_600:
            raise ValueError("timeout must be at most 600 seconds, total_timeout at most 3,600")
        origin = _checked(base_url)
        agent = f"tollbooth-python/{VERSION} python/{'.'.join(map(str, sys.version_info[:3]))}"
        context = (ssl_context or ssl.create_default_context()) if origin.scheme == "https" else None
        transport = Transport(origin, context=context, answer_bytes_max=answer_bytes_max)
        settings = Settings(
            api_key=lambda: api_key,
            prefix=origin.path.rstrip("/"),
            max_retries=max_retries,
            timeout=timeout,
            total_timeout=total_timeout,
            user_agent=f"{agent} {app_name}".strip(),
            clock=clock,
            sleep=sleep,
            random=random,
        )
        self._transport = transport
        super().__init__(Caller(settings, transport))

    def close(self) -> None:
        """Closes idle connections; the client stays usable."""
        self._transport.close()

    def __enter__(self) -> Tollbooth:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Tollbooth()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a client cannot be pickled, since this would write its key")


def _checked(base_url: str) -> SplitResult:
    # The message omits the text, which may contain a key.
    try:
        url = urlsplit(base_url)
        host, _port = url.hostname or "", url.port
    except ValueError:
        raise ValueError("base_url must be a URL as https://pay.example") from None
    # urlsplit drops line breaks, so they are refused here.
    is_url = re.fullmatch(r"[\x21-\x7e]+", base_url) and re.fullmatch(r"[\w.:-]+", host, re.ASCII)
    if not is_url or url.scheme not in ("https", "http"):
        raise ValueError("base_url must be a URL as https://pay.example")
    if url.scheme == "http" and not _is_local(host):
        raise ValueError("base_url must be https to protect the key; http is allowed for localhost only")
    if "@" in url.netloc or url.query or url.fragment:
        raise ValueError("base_url must have no user, password, query or fragment")
    return url


def _is_local(host: str) -> bool:
    return bool(re.fullmatch(r"(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|::1", host, re.ASCII))
