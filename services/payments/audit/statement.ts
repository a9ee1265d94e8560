// Audits captured amounts, refunds and disputes by the processor's own statement: what it says moved money against what
// we have stored under its ids. Pure; the match that settles differences is another one (flows/match-statement.ts).

/** A line of a statement, or what we hold under the same id. */
export interface StatementEntry {
  /** The object's id at the processor. */
  readonly ref: string;
  /** Minor units; of a charge what was captured. */
  readonly amount: bigint;
  /** Of a refund or dispute; empty for a charge. */
  readonly status: string;
}

/** Differences in both directions, one sentence each. @param ours everything of ours that moved money there. */
export function statementDifferences(theirs: readonly StatementEntry[], ours: readonly StatementEntry[]): string[] {
  const reported = new Map(theirs.map((line) => [line.ref, line]));
  const held = new Map(ours.map((line) => [line.ref, line]));
  const found: string[] = [];
  for (const line of theirs) {
    if (!held.has(line.ref)) found.push(`${line.ref}: ${wordsOf(line)} in the statement, and we have nothing of it`);
  }
  for (const line of ours) {
    const their = reported.get(line.ref);
    if (!their) found.push(`${line.ref}: ${wordsOf(line)} with us, and the statement has nothing of it`);
    else if (their.amount !== line.amount || their.status !== line.status) {
      found.push(`${line.ref}: ${wordsOf(line)} with us, ${wordsOf(their)} in the statement`);
    }
  }
  if (held.size !== ours.length) found.push("an id of the processor stands for two things of ours");
  return found;
}

function wordsOf({ amount, status }: StatementEntry): string {
  return `${amount} ${status}`.trim();
}
