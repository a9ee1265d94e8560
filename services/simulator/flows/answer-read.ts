// Answers an API GET. Fault switches make it late, stale or wrong.
import { notFound } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { brokenAnswer, edgeAnswer, type SentAnswer, sentAnswer } from "./sent-answer.ts";
import { assertLetIn, type FaultyCall, takeFaults } from "./take-faults.ts";

export interface ReadCall extends FaultyCall {
  readonly does: "look" | "list";
}

/** @param read for a list: `shownUntil` hides younger objects */
export async function answerRead(
  processor: Processor,
  call: ReadCall,
  read: (shownUntil: Date | undefined) => Promise<unknown>,
): Promise<SentAnswer> {
  const firing = await takeFaults(processor, call, call.does);
  if (firing.has("edge_error")) return edgeAnswer(503);
  assertLetIn(firing);
  if (firing.has("error_before")) return sentAnswer(brokenAnswer, firing);
  if (firing.has("missing")) throw notFound("object");
  const staleMs = firing.get("stale_list");
  const body = await read(staleMs === undefined ? undefined : new Date(Date.now() - staleMs));
  return sentAnswer(firing.has("error_after") ? brokenAnswer : { status: 200, body }, firing);
}
