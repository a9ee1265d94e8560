// Authentication, idempotency keys and responses of API requests.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiFailure, badField } from "../failure.ts";
import {
  type ApiCall,
  answerOnce,
  answerRead,
  type ReadCall,
  type SentAnswer,
  type Work,
} from "../flows/answer-once.ts";
import { sameSecret } from "../new-id.ts";
import type { Processor } from "../processor.ts";

/** Answers a POST once per key (flows/answer-once.ts). */
export async function answerApi(
  processor: Processor,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Pick<ApiCall, "target" | "references">,
  work: Work,
): Promise<FastifyReply> {
  const [path = ""] = request.url.split("?");
  const known = { account: accountOf(request), key: idempotencyKey(request), path, body: request.body };
  return sendAnswer(processor, reply, await answerOnce(processor, { ...call, ...known }, work));
}

export async function answerGet(
  processor: Processor,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Pick<ReadCall, "target" | "does" | "references">,
  read: Parameters<typeof answerRead>[2],
): Promise<FastifyReply> {
  return sendAnswer(processor, reply, await answerRead(processor, { ...call, account: accountOf(request) }, read));
}

/** @throws ApiFailure 401 */
export function assertBearer(request: FastifyRequest, secretKey: string): void {
  const [, token = ""] = /^Bearer ([^\s]+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (!sameSecret(secretKey, token))
    throw new ApiFailure(401, "invalid_request", "unauthorized", "The API key is missing or wrong.");
}

/** Each well-formed name is an account. @throws ApiFailure 401 */
export function accountOf(request: FastifyRequest): string {
  const account = request.headers["processor-account"];
  if (typeof account !== "string" || !/^acct_[a-z0-9]{1,64}$/.test(account))
    throw new ApiFailure(401, "invalid_request", "unauthorized", "The header Processor-Account is missing or wrong.");
  return account;
}

/** Node joins repeated headers with ", ", whose space makes the key malformed. */
function idempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw badField("Idempotency-Key", "must be 1 to 255 printable characters");
  return key;
}

async function sendAnswer(processor: Processor, reply: FastifyReply, sent: SentAnswer): Promise<FastifyReply> {
  if (sent.arrives === "never") return neverAnswer(processor, reply);
  if (sent.arrives === "cut") return cutAnswer(reply, sent);
  if (sent.isReplay) reply.header("Idempotent-Replayed", "true");
  return reply.code(sent.status).type(sent.type).send(sent.text);
}

const cutBytes = 20; // of the body, so that an answer has begun

function cutAnswer(reply: FastifyReply, sent: SentAnswer): FastifyReply {
  reply.hijack();
  const whole = Buffer.from(sent.text);
  reply.raw.writeHead(sent.status, { "content-type": sent.type, "content-length": whole.length });
  reply.raw.write(whole.subarray(0, Math.min(cutBytes, whole.length - 1)), () => reply.raw.destroy());
  return reply;
}

const hangMsMax = 60_000; // longer than any client's timeout

/** Sends no answer until the caller's timeout. */
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
