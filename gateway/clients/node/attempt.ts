// Sends a request once, with limits of time and size. A redirect is an error: the key is sent to the base URL only.
import { ConnectionFailedError, TimedOutError, UnexpectedAnswerError } from "./errors.ts";
import { membersOf } from "./members.ts";
import type { Settings } from "./settings.ts";

export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/**
 * @throws ConnectionFailedError or TimedOutError without a complete response, or the reason of the caller's signal
 */
export async function sendOnce(
  settings: Pick<Settings, "fetch" | "answerBytesMax">,
  { method, url, headers, body }: WireRequest,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<WireAnswer> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), timeoutMs);
  const stop = () => ending.abort(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    signal?.throwIfAborted();
    const response = await settings.fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal: ending.signal,
      ...(body !== undefined && { body }),
    });
    if (response.status >= 300 && response.status < 400) throw redirected(response.status);
    return { status: response.status, headers: response.headers, bytes: await bytesOf(response, settings) };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof UnexpectedAnswerError) throw error;
    if (ending.signal.aborted) {
      throw new TimedOutError(`no complete response within ${Math.round(timeoutMs)} ms`, { code: "timed_out" });
    }
    const problem = `the connection to ${new URL(url).host} failed: ${causeOf(error)}`;
    throw new ConnectionFailedError(problem, { code: "connection_failed", cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    // Aborts an unread response, which would block its connection.
    ending.abort();
  }
}

/** For example `ECONNREFUSED`; fetch itself only reports that it failed. */
function causeOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code } = membersOf(inner);
  return typeof code === "string" ? code : inner instanceof Error ? inner.name : "unknown cause";
}

function redirected(status: number): UnexpectedAnswerError {
  const message = `the base URL redirects (HTTP ${status}), which is not followed: set baseUrl to the target`;
  return new UnexpectedAnswerError(message, { code: "unexpected_answer", status });
}

async function bytesOf(response: Response, { answerBytesMax }: Pick<Settings, "answerBytesMax">): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    size += chunk.value.byteLength;
    if (size > answerBytesMax) {
      const facts = { code: "unexpected_answer", status: response.status };
      throw new UnexpectedAnswerError(`the response has more than ${answerBytesMax} bytes`, facts);
    }
    chunks.push(chunk.value);
  }
  return Buffer.concat(chunks);
}
