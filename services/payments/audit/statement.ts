// Audits captures, refunds and disputes against the processor's statement by the processor's ids. Pure, and independent
// of the match that settles differences (flows/match-statement.ts).

/** A line of the statement, or our record with the same id. */
interface StatementEntry {
  /** The object's id at the processor. */
  readonly ref: string;
  /** Minor units; of a charge the captured amount. */
  readonly amount: bigint;
  /** Status of a refund or dispute; empty for a charge. */
  readonly status: string;
}

/** Differences in both directions, one sentence each. @param ours all our records that moved money there */
export function statementDifferences(theirs: readonly StatementEntry[], ours: readonly StatementEntry[]): string[] {
  const reported = new Map(theirs.map((line) => [line.ref, line]));
  const held = new Map(ours.map((line) => [line.ref, line]));
  const found: string[] = [];
  for (const line of theirs) {
    if (!held.has(line.ref)) found.push(`${line.ref}: ${wordsOf(line)} in the statement, missing in our records`);
  }
  for (const line of ours) {
    const their = reported.get(line.ref);
    if (!their) found.push(`${line.ref}: ${wordsOf(line)} with us, missing in the statement`);
    else if (their.amount !== line.amount || their.status !== line.status) {
      found.push(`${line.ref}: ${wordsOf(line)} with us, ${wordsOf(their)} in the statement`);
    }
  }
  if (held.size !== ours.length) found.push("two of our records have the same processor id");
  return found;
}

function wordsOf({ amount, status }: StatementEntry): string {
  return `${amount} ${status}`.trim();
}
