// Verifies a webhook's signature over the raw body, before parsing it.
import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * @param {Buffer} rawBody the exact bytes of the request body
 * @param {string} signatureHeader the Service-Signature header: t=<unix seconds>,v1=<hex>[,v1=<hex>]
 * @param {string} signingSecret whsec_…, prefix included
 * @param {number} toleranceSeconds how old a signature may be
 */
export function isGenuine(rawBody, signatureHeader, signingSecret, toleranceSeconds = 300) {
  const parts = signatureHeader.split(",").map((part) => part.trim().split("=", 2));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > toleranceSeconds) return false;
  const expected = createHmac("sha256", signingSecret).update(`${time}.`).update(rawBody).digest();
  return parts
    .filter(([name, value]) => name === "v1" && /^[0-9a-f]{64}$/.test(value ?? ""))
    .some(([, value]) => timingSafeEqual(Buffer.from(value, "hex"), expected));
}
