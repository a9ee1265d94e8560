# Verifies a webhook's signature over the raw body, before parsing it.
import hashlib
import hmac
import re
import time


def is_genuine(raw_body: bytes, signature_header: str, signing_secret: str, tolerance_seconds: int = 300) -> bool:
    parts = [part.strip().split("=", 1) for part in signature_header.split(",") if "=" in part]
    sent_at = next((value for name, value in parts if name == "t"), "")
    if not re.fullmatch("[0-9]{1,12}", sent_at) or abs(time.time() - int(sent_at)) > tolerance_seconds:
        return False
    signed = sent_at.encode() + b"." + raw_body
    expected = hmac.new(signing_secret.encode(), signed, hashlib.sha256).hexdigest()
    signatures = [value.encode(errors="replace") for name, value in parts if name == "v1"]
    return any(hmac.compare_digest(signature, expected.encode()) for signature in signatures)
