// Whether a database is the one that served last: what is seen of it and of the broker goes in, whether the service
// recovers comes out. Pure. An event that this service announced and that its database lacks is proof; another server
// alone is a question, since a failover brings one too, and the broker's agreement answers it.

/** Why a service recovers; empty: it does not. */
export type RecoveryReason = "" | "events_unknown" | "server_changed" | "operator";

/**
 * What the service's own stream says: every event of ours is in the outbox, or some are not; `unsure`: it is not read
 * to its end, does not answer, or is not the stream that was compared before.
 */
type StreamVerdict = "agrees" | "lacks" | "unsure";

interface RecoveryState {
  readonly why: RecoveryReason;
  /** The server as it was; empty: not known. */
  readonly server: string;
}

/** @returns what is to be remembered. */
export function judgeDatabase(
  known: RecoveryState,
  seen: { readonly server: string; readonly stream: StreamVerdict },
): RecoveryState {
  const server = seen.server || known.server;
  if (seen.stream === "lacks") return { why: known.why === "operator" ? "operator" : "events_unknown", server };
  if (seen.stream === "agrees") return { why: known.why === "server_changed" ? "" : known.why, server };
  const isDoubted = isOtherServer(known, seen.server);
  // The old name is kept until somebody vouches for the new one.
  return isDoubted ? { why: known.why || "server_changed", server: known.server } : { why: known.why, server };
}

/** True when the server is known, and it is not the one that it was. */
export function isOtherServer(known: RecoveryState, server: string): boolean {
  return known.server !== "" && server !== "" && known.server !== server;
}
