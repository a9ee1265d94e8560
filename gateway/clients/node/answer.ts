// Parses responses to objects with all fields; printing an object hides its secret fields.
import { UnexpectedAnswerError } from "./errors.ts";
import { secretFields } from "./gen/contract.ts";
import { parseJson } from "./json.ts";

/** About the response of a result. */
export interface AnswerFacts {
  readonly status: number;
  /** Id of the request in Tollbooth's logs. */
  readonly requestId: string | undefined;
  /** True for the stored response of an earlier request with the same idempotency key. */
  readonly isReplay: boolean;
}

const factsOf = new WeakMap<object, AnswerFacts>();

/** About the response of a result; undefined for an object that this library did not return. */
export function answerOf(result: object): AnswerFacts | undefined {
  return factsOf.get(result);
}

export function keepFacts(result: object, status: number, headers: Headers): void {
  factsOf.set(result, {
    status,
    requestId: headers.get("request-id") ?? undefined,
    isReplay: headers.get("idempotent-replayed") === "true",
  });
}

/** @throws UnexpectedAnswerError for invalid JSON, and for numbers that would lose digits. */
export function parseAnswer(bytes: Uint8Array, status: number, headers: Headers): unknown {
  const facts = { code: "unexpected_answer", status, requestId: headers.get("request-id") ?? undefined };
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), (value) => {
      if (Object.values(value).some(losesDigits)) throw new RangeError("unsafe");
      hide(value);
    });
  } catch (error) {
    const problem = error instanceof RangeError ? "has a number beyond 2^53" : "is not Tollbooth's JSON";
    // Without the cause: its message quotes the text, which may contain a secret.
    throw new UnexpectedAnswerError(`the response (HTTP ${status}) ${problem}`, facts);
  }
}

function losesDigits(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

const inspect = Symbol.for("nodejs.util.inspect.custom");

/** `console.log` and `util.inspect` hide the secrets; JSON and field access keep them. */
function hide(value: object): void {
  if (!Object.keys(value).some((name) => secretFields.has(name))) return;
  const shown = (_depth: number, options: object, show: (value: unknown, options: object) => string) => {
    const masked = Object.entries(value).map(([name, each]) => [name, secretFields.has(name) ? "[secret]" : each]);
    return show(Object.fromEntries(masked), options);
  };
  Object.defineProperty(value, inspect, { value: shown, enumerable: false });
}
