// The signature of a delivery (docs/contract.md §9): HMAC-SHA256 over `t.body`, keyed by the literal signing secret,
// prefix included.
import { createHmac, type KeyObject } from "node:crypto";

/**
 * The value of `Service-Signature`: `t=<unix seconds>,v1=<hex>`, with one `v1=` per secret that signs.
 * @param secrets the current one first, each as a key of its literal text
 */
export function signatureHeader(secrets: readonly KeyObject[], atSeconds: number, body: Uint8Array): string {
  const prefix = `${atSeconds}.`;
  const values = secrets.map(
    (secret) => `v1=${createHmac("sha256", secret).update(prefix).update(body).digest("hex")}`,
  );
  return `t=${atSeconds},${values.join(",")}`;
}
