// What the migrate command may do to a stream that exists. It widens; it never drops events, subjects or copies: that
// is for an operator to decide. Limits that an operator has raised stay raised.
import type { StreamConfig } from "nats";

/** A stream as a release wants it. */
export type WantedStream = Pick<StreamConfig, "name" | "subjects" | "retention" | "storage" | "num_replicas" | Limit> &
  Partial<StreamConfig>;

/** Limits of which more is never a loss. */
const limits = ["max_age", "max_bytes", "max_msg_size", "duplicate_window"] as const;
type Limit = (typeof limits)[number];

/** What the change would lose, each in words; empty: it may be made. */
export function lossesOf(known: StreamConfig, wanted: WantedStream): string[] {
  const dropped = known.subjects.filter((subject) => !wanted.subjects.includes(subject));
  const foreign = (["mirror", "sources", "republish", "sealed"] as const).filter((field) => known[field]);
  return [
    ...(foreign.length === 0 ? [] : [`it has ${foreign.join(", ")}, which nothing of ours sets`]),
    ...(known.storage === wanted.storage
      ? []
      : [`its storage is ${known.storage}, this release wants ${wanted.storage}`]),
    ...(known.retention === wanted.retention
      ? []
      : [`its retention is ${known.retention}, this release wants ${wanted.retention}`]),
    ...(dropped.length === 0 ? [] : [`it would no longer keep ${dropped.join(", ")}`]),
    ...(known.num_replicas <= wanted.num_replicas
      ? []
      : [`it has ${known.num_replicas} copies and NATS_REPLICAS asks for ${wanted.num_replicas}`]),
  ];
}

/** The limits that stay: those that are wider already (0 or less is no limit). */
export function keptLimits(known: StreamConfig, wanted: WantedStream): Partial<Record<Limit, number>> {
  const isWider = (limit: Limit) => known[limit] <= 0 || known[limit] > wanted[limit];
  return Object.fromEntries(limits.filter(isWider).map((limit) => [limit, known[limit]]));
}

/** A change that an operator has to decide on. Nothing was changed. */
export class StreamRefused extends Error {
  override name = "StreamRefused";
}

/** What was asked for, or undefined when the broker says that there is none. */
export async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "404") return undefined;
    throw error;
  }
}
