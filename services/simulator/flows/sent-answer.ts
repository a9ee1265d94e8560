// What leaves the door of the API: an answer, whether it is a repeat, and whether it arrives at all.
import { internalFailure } from "../failure.ts";
import type { Firing } from "./take-faults.ts";

export interface PlannedAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface SentAnswer {
  readonly status: number;
  readonly text: string;
  readonly type: "application/json; charset=utf-8" | "text/html";
  readonly isReplay: boolean;
  /** Never: the caller waits until it gives up. Cut: the connection breaks after the first bytes. */
  readonly arrives: "whole" | "never" | "cut";
}

export const brokenAnswer: PlannedAnswer = { status: 500, body: internalFailure().body };

/** An answer in the processor's own words. */
export function sentAnswer(answer: PlannedAnswer, firing: Firing): SentAnswer {
  const arrives = firing.has("hang_after") ? "never" : firing.has("cut") ? "cut" : "whole";
  return jsonAnswer(answer.status, JSON.stringify(answer.body), { isReplay: false, arrives });
}

/** The first answer to a key, once more. */
export function replayedAnswer(stored: { readonly status: number; readonly body: string }): SentAnswer {
  return jsonAnswer(stored.status, stored.body, { isReplay: true, arrives: "whole" });
}

const edgeReasons = { 502: "Bad Gateway", 503: "Service Temporarily Unavailable" } as const;

/** What a proxy before the processor says, which knows nothing of the work behind it. */
export function edgeAnswer(status: keyof typeof edgeReasons): SentAnswer {
  const title = `${status} ${edgeReasons[status]}`;
  const text = `<html>\n<head><title>${title}</title></head>\n<body><center><h1>${title}</h1></center></body>\n</html>\n`;
  return { status, text, type: "text/html", isReplay: false, arrives: "whole" };
}

function jsonAnswer(status: number, text: string, rest: Pick<SentAnswer, "isReplay" | "arrives">): SentAnswer {
  return { status, text, type: "application/json; charset=utf-8", ...rest };
}
