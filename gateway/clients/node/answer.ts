// Answers as objects: read from their bytes, unknown fields kept, secret ones hidden from whoever only prints them.
import { UnexpectedAnswerError } from "./errors.ts";
import { secretFields } from "./gen/contract.ts";
import { parseJson } from "./json.ts";

/** About the answer that a result came with. */
export interface AnswerFacts {
  readonly status: number;
  /** Names the request in Tollbooth's logs. */
  readonly requestId: string | undefined;
  /** It is the stored answer of an earlier request with the same idempotency key. */
  readonly isReplay: boolean;
}

const factsOf = new WeakMap<object, AnswerFacts>();

/** What is known of a result's answer; undefined for what no call of this library returned. */
export function answerOf(result: object): AnswerFacts | undefined {
  return factsOf.get(result);
}

/** Remembers it. */
export function keepFacts(result: object, status: number, headers: Headers): void {
  factsOf.set(result, {
    status,
    requestId: headers.get("request-id") ?? undefined,
    isReplay: headers.get("idempotent-replayed") === "true",
  });
}

/** The JSON of an answer. @throws UnexpectedAnswerError for anything else, and for numbers that would lose digits. */
export function parseAnswer(bytes: Uint8Array, status: number, headers: Headers): unknown {
  const facts = { code: "unexpected_answer", status, requestId: headers.get("request-id") ?? undefined };
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), (value) => {
      if (Object.values(value).some(losesDigits)) throw new RangeError("unsafe");
      hide(value);
    });
  } catch (error) {
    const what = error instanceof RangeError ? "has a number beyond 2^53" : "is no JSON of Tollbooth's";
    // Without the cause: its message quotes the text, which may hold a secret.
    throw new UnexpectedAnswerError(`the answer of HTTP ${status} ${what}`, facts);
  }
}

function losesDigits(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

const inspect = Symbol.for("nodejs.util.inspect.custom");

/** Has `console.log` and `util.inspect` show the object without its secrets; JSON and reading have them. */
function hide(value: object): void {
  if (!Object.keys(value).some((name) => secretFields.has(name))) return;
  const shown = (_depth: number, options: object, show: (value: unknown, options: object) => string) => {
    const masked = Object.entries(value).map(([name, each]) => [name, secretFields.has(name) ? "[secret]" : each]);
    return show(Object.fromEntries(masked), options);
  };
  Object.defineProperty(value, inspect, { value: shown, enumerable: false });
}
