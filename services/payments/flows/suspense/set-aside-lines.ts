// Asks about intents that are set aside, for the match of a statement: what of them is in our books, and what the
// processor says of each now.
import type { Connector, ProcessorAccount } from "../../connectors/connector.ts";
import type { OurLine, StatementLine } from "../../rules/statement.ts";
import { capturedLine, setAsideLines } from "../../rules/suspense/set-aside-lines.ts";
import { linesByRef } from "../../store/processor/statements.ts";
import { chargesAbout, type StoredSuspense } from "../../store/suspense.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import type { VerifyDeps } from "../verify-intent.ts";

export interface SetAsideIntent {
  /** The processor's id of it. */
  readonly ref: string;
  readonly ours: readonly [OurLine, ...OurLine[]];
  /** undefined: the processor does not know it. */
  readonly captured: StatementLine | undefined;
}

/** @param refs of intents; those that are not set aside are passed over. @throws Failure CONNECTOR_ERROR */
export async function readSetAside(
  { db }: Pick<VerifyDeps, "db">,
  connector: Connector,
  account: ProcessorAccount,
  refs: readonly string[],
): Promise<readonly SetAsideIntent[]> {
  const items = Map.groupBy(await chargesAbout(db, account, refs), ({ connectorRef }) => connectorRef);
  const read: SetAsideIntent[] = [];
  for (const [ref, [first, ...more]] of items) {
    if (first) read.push(await readIntent(ref, [first, ...more]));
  }
  return read;

  async function readIntent(ref: string, about: readonly [StoredSuspense, ...StoredSuspense[]]) {
    const answer = await connector.retrieveIntent(account, ref);
    const report = answer.kind === "not_found" ? undefined : provenValue(answer);
    const parts = report ? [...report.refunds, ...report.disputes].map((part) => part.ref) : [];
    const lines = await linesByRef(db, account, [ref, ...parts]);
    const own = lines.find(({ object, amount }) => object === "payment" && amount > 0n);
    const booked = lines.filter(({ object }) => object !== "payment");
    const ours = setAsideLines({ ref, items: about, own, booked }, report);
    return { ref, ours, captured: report && capturedLine(report) };
  }
}
