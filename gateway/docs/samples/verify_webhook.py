# Verifies a webhook's signature over the raw body, before parsing it.
import hashlib
import hmac
import time


def is_genuine(raw_body: bytes, signature_header: str, signing_secret: str, tolerance_seconds: int = 300) -> bool:
    parts = [part.split("=", 1) for part in signature_header.split(",") if "=" in part]
    sent_at = next((value for name, value in parts if name == "t"), "")
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > tolerance_seconds:
        return False
    signed = sent_at.encode() + b"." + raw_body
    expected = hmac.new(signing_secret.encode(), signed, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, value in parts)
