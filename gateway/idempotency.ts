// Reads the Idempotency-Key and fingerprints the request (docs/contract.md §6). The services enforce it.
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { invalidField } from "#platform/values/failure.ts";
import { headerCount } from "./auth/auth.ts";

interface IdempotencyKey {
  readonly key: string;
  /** SHA-256 of method, path and parsed body. */
  readonly fingerprint: Uint8Array;
}

const header = "idempotency-key";
const format = /^[\x20-\x7e]{1,255}$/;

/**
 * The request's key; undefined without the header.
 * @throws Failure INVALID_BODY for an empty, too long or repeated one.
 */
export function idempotencyOf(request: FastifyRequest): { idempotency?: IdempotencyKey } {
  const count = headerCount(request, header);
  if (count === 0) return {};
  // Node joins repeated headers with a comma, which would turn two keys into one.
  if (count > 1) throw invalidField("Idempotency-Key", "must be given once");
  const key = request.headers[header];
  if (typeof key !== "string" || !format.test(key)) {
    throw invalidField("Idempotency-Key", "must have 1 to 255 printable ASCII characters");
  }
  return { idempotency: keyed(request, key) };
}

/**
 * The request's key, or its Request-Id: the gateway retries a lost call under it, since money may have moved.
 * @throws Failure INVALID_BODY like `idempotencyOf`.
 */
export function keyOrOwn(request: FastifyRequest): { idempotency: IdempotencyKey } {
  const { idempotency } = idempotencyOf(request);
  return { idempotency: idempotency ?? keyed(request, request.call.requestId) };
}

function keyed(request: FastifyRequest, key: string): IdempotencyKey {
  const [path = ""] = request.url.split("?");
  return { key, fingerprint: requestFingerprint(request.method, path, request.body) };
}

/** Marks a stored response. */
export function markReplay(reply: FastifyReply, replayed: boolean): void {
  if (replayed) reply.header("idempotent-replayed", "true");
}

/** Ignores white space and the order of names; 1 and 1.0 are equal. */
export function requestFingerprint(method: string, path: string, body: unknown): Uint8Array {
  return createHash("sha256")
    .update(`${method}\n${path}\n${canonical(body ?? {})}`)
    .digest();
}

/** JSON with sorted names. Bodies are at most 32 levels deep (http/body/json-body.ts). */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}
