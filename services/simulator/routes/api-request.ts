// The door of the API: who calls, with which idempotency key, and how an answer leaves.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ApiCall, answerOnce, type SentAnswer, type Work } from "../flows/answer-once.ts";
import { ApiFailure, badField } from "../flows/failure.ts";
import type { Processor } from "../flows/processor.ts";
import { sameSecret } from "../flows/same-secret.ts";
import type { ApiTarget } from "../rules/fault.ts";

/** Answers a call once; see flows/answer-once.ts. */
export async function answerApi(
  processor: Processor,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Pick<ApiCall, "target" | "references">,
  work: Work,
): Promise<FastifyReply> {
  const [path = ""] = request.url.split("?");
  const key = request.method === "POST" ? idempotencyKey(request) : null;
  const sent = await answerOnce(
    processor,
    { ...call, account: accountOf(request), key, path, body: request.body },
    work,
  );
  return sent.hangs ? neverAnswer(processor, reply) : sendAnswer(reply, sent);
}

/** A read: has no key, and nothing to write. */
export function answerRead(
  processor: Processor,
  request: FastifyRequest,
  reply: FastifyReply,
  target: ApiTarget,
  references: ApiCall["references"],
  read: () => Promise<unknown>,
): Promise<FastifyReply> {
  return answerApi(processor, request, reply, { target, references }, async () => ({
    answer: { status: 200, body: await read() },
    isWritten: true,
  }));
}

/** @throws ApiFailure 401 */
export function assertBearer(request: FastifyRequest, secretKey: string): void {
  const [, token = ""] = /^Bearer ([^\s]+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (!sameSecret(secretKey, token))
    throw new ApiFailure(401, "invalid_request", "unauthorized", "The API key is missing or wrong.");
}

/** Accounts need no creation: each well-formed name is one. @throws ApiFailure 401 */
export function accountOf(request: FastifyRequest): string {
  const account = request.headers["processor-account"];
  if (typeof account !== "string" || !/^acct_[a-z0-9]{1,64}$/.test(account))
    throw new ApiFailure(401, "invalid_request", "unauthorized", "The header Processor-Account is missing or wrong.");
  return account;
}

/** Node joins a repeated header with ", ": the space makes it malformed. */
function idempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw badField("Idempotency-Key", "must be 1 to 255 printable characters");
  return key;
}

function sendAnswer(reply: FastifyReply, sent: SentAnswer): FastifyReply {
  if (sent.isReplay) reply.header("Idempotent-Replayed", "true");
  return reply.code(sent.status).type("application/json; charset=utf-8").send(sent.text);
}

const hangMsMax = 60_000; // longer than any sensible client waits

/** Lets the caller wait until it gives up. */
async function neverAnswer(processor: Processor, reply: FastifyReply): Promise<FastifyReply> {
  reply.hijack();
  const over = new AbortController();
  await Promise.race([
    once(reply.raw, "close", { signal: over.signal }),
    pause(hangMsMax, undefined, { signal: AbortSignal.any([over.signal, processor.stopping]) }),
  ]).catch(() => {}); // stopping ends it too
  over.abort();
  reply.raw.destroy();
  return reply;
}
