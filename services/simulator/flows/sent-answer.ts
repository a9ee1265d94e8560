// An API answer as it is sent: whether it is a replay, and whether it arrives.
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
  /** `never`: the caller waits until its timeout. `cut`: the connection breaks after the first bytes. */
  readonly arrives: "whole" | "never" | "cut";
}

export const brokenAnswer: PlannedAnswer = { status: 500, body: internalFailure().body };

export function sentAnswer(answer: PlannedAnswer, firing: Firing): SentAnswer {
  const arrives = firing.has("hang_after") ? "never" : firing.has("cut") ? "cut" : "whole";
  return jsonAnswer(answer.status, JSON.stringify(answer.body), { isReplay: false, arrives });
}

/** Replays the first answer to a key. */
export function replayedAnswer(stored: { readonly status: number; readonly body: string }): SentAnswer {
  return jsonAnswer(stored.status, stored.body, { isReplay: true, arrives: "whole" });
}

const edgeReasons = { 502: "Bad Gateway", 503: "Service Temporarily Unavailable" } as const;

/** The answer of a proxy in front of the processor, independent of the work. */
export function edgeAnswer(status: keyof typeof edgeReasons): SentAnswer {
  const title = `${status} ${edgeReasons[status]}`;
  const text = `<html>\n<head><title>${title}</title></head>\n<body><center><h1>${title}</h1></center></body>\n</html>\n`;
  return { status, text, type: "text/html", isReplay: false, arrives: "whole" };
}

function jsonAnswer(status: number, text: string, rest: Pick<SentAnswer, "isReplay" | "arrives">): SentAnswer {
  return { status, text, type: "application/json; charset=utf-8", ...rest };
}
