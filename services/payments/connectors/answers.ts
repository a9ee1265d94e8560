// Answers of the port that every connector gives in the same way.
import type { DeclineCode, ProcessorAnswer } from "./connector.ts";

/** A refusal that is known before anything is sent. */
export function declinedAnswer(code: DeclineCode, message: string): ProcessorAnswer<never> {
  return { kind: "declined", code, message };
}

/** A success with its value; an unreadable one proves nothing. */
export function understoodAnswer<T>(body: unknown, value: (body: unknown) => T): ProcessorAnswer<T> {
  try {
    return { kind: "succeeded", value: value(body) };
  } catch (cause) {
    return { kind: "unknown", cause };
  }
}
