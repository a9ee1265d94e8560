// Compares a processor's statement of a period with our books, in both directions, and corrects nothing. Phases, each
// safe to rerun: 1 read a page of the statement · 2 read our lines with the same ids · 3 verify the intent of each
// difference, which settles missed reports, and compare again · 4 store the remaining differences. Then the same for
// our captures that the statement lacks.
import type { Id } from "#platform/values/id.ts";
import type { Connector, ProcessorAccount } from "../connectors/connector.ts";
import { type Difference, lineDifference, missingThere, type OurLine, type StatementLine } from "../rules/statement.ts";
import { findPayment } from "../store/payments.ts";
import { capturedIn, linesByRef, recordDifferences, resolveDifferences } from "../store/processor/statements.ts";
import { intentsWithFunds } from "../store/suspense.ts";
import { provenValue } from "./accounts/ask-processor.ts";
import { paymentOfIntent } from "./restore-archived.ts";
import { settleReport, type VerifyDeps, verifyIntent } from "./verify-intent.ts";

export interface StatementMatch {
  /** Compared lines of the processor. */
  readonly lines: number;
  /** Differences that a settlement resolved. */
  readonly imported: number;
  readonly differences: number;
  /** Resolved differences of earlier matches. */
  readonly resolved: number;
}

const pageMax = 200;
// Times may differ between both sides, so the statement is read this much wider.
const marginMs = 300_000;

export function hasStatement(connector: Connector): boolean {
  return connector.readStatement !== undefined;
}

/**
 * @param onLost absent: an unknown payment remains a difference
 * @throws Failure CONNECTOR_ERROR (the statement could not be read; earlier results are stored).
 */
export async function matchStatement(
  deps: VerifyDeps,
  account: ProcessorAccount,
  period: { readonly from: Date; readonly to: Date },
  onLost: LostHandler = async () => {},
): Promise<StatementMatch> {
  const matching = new Matching(deps, account, onLost);
  await matching.matchTheirs(period);
  await matching.matchOurs(period);
  return matching.result;
}

/** Handles a payment that the statement has under an id of ours and that we do not have. */
type LostHandler = (paymentId: Id<"payment">) => Promise<void>;

class Matching {
  readonly #deps: VerifyDeps;
  readonly #account: ProcessorAccount;
  readonly #connector: Connector;
  readonly #onLost: LostHandler;
  /** Kind and id of everything on the statement. */
  readonly #seen = new Set<string>();
  readonly result = { lines: 0, imported: 0, differences: 0, resolved: 0 };

  constructor(deps: VerifyDeps, account: ProcessorAccount, onLost: LostHandler) {
    this.#deps = deps;
    this.#onLost = onLost;
    this.#account = account;
    this.#connector = deps.connectors.get(account.connector);
  }

  /** Their lines against ours. */
  async matchTheirs({ from, to }: { from: Date; to: Date }): Promise<void> {
    const wide = { from: new Date(from.getTime() - marginMs), to: new Date(to.getTime() + marginMs) };
    let after = "";
    do {
      const answer = await this.#connector.readStatement?.(this.#account, wide, after);
      if (!answer) return;
      const page = provenValue(answer);
      await this.#comparePage(page.lines);
      after = page.next;
    } while (after !== "");
  }

  async #comparePage(lines: readonly StatementLine[]): Promise<void> {
    this.result.lines += lines.length;
    for (const line of lines) this.#seen.add(key(line));
    const first = await this.#compare(lines);
    if (first.length === 0) return;
    const differ = new Set(first.map(({ ref }) => ref));
    await this.#settle([...new Set(lines.filter(({ ref }) => differ.has(ref)).map(({ intentRef }) => intentRef))]);
    const left = await this.#compare(lines);
    this.result.imported += first.length - left.length;
    await this.#keep(left);
  }

  /** Resolves matching lines and returns the differences. Intents with unexpected funds are already listed. */
  async #compare(lines: readonly StatementLine[]): Promise<Difference[]> {
    const { db } = this.#deps;
    const intents = lines.map(({ intentRef }) => intentRef);
    const listed = await intentsWithFunds(db, this.#account, intents);
    const booked = await linesByRef(
      db,
      this.#account,
      lines.map(({ ref }) => ref),
    );
    const ours = new Map(booked.map((line) => [key(line), line]));
    const differences = lines
      .filter(({ intentRef }) => !listed.has(intentRef))
      .flatMap((line) => lineDifference(line, ours.get(key(line))) ?? []);
    const differing = new Set(differences.map(({ ref }) => ref));
    const agreed = lines.filter(({ ref }) => !differing.has(ref));
    this.result.resolved += await resolveDifferences(db, this.#account.id, [...new Set(agreed.map(({ ref }) => ref))]);
    return differences;
  }

  /** Settles intents by the processor's reports; nothing else moves money. */
  async #settle(refs: readonly string[]): Promise<void> {
    const booked = await linesByRef(this.#deps.db, this.#account, refs);
    for (const ref of refs) {
      const own = booked.find((line) => line.object === "payment" && line.ref === ref);
      try {
        if (own) await verifyIntent(this.#deps, own.paymentId, "reconcile");
        else await this.#settleOther(ref);
      } catch (error) {
        this.#deps.log.warn({ err: error, ref }, "difference not settled");
      }
    }
  }

  /** An intent that we do not have: a second charge, or one whose creation was not recorded. */
  async #settleOther(ref: string): Promise<void> {
    const report = provenValue(await this.#connector.retrieveIntent(this.#account, ref));
    const named = { ...report, connector: this.#connector.name, connectorRef: report.ref };
    const paymentId = await paymentOfIntent(this.#deps, named);
    if (!paymentId) return;
    const payment = await findPayment(this.#deps.db, paymentId);
    if (!payment) return await this.#onLost(paymentId);
    if (payment.connectorAccountId !== this.#account.id) return;
    await settleReport(this.#deps, payment.id, report, "reconcile");
  }

  /** Our lines against theirs. A missing line is verified, since it may be on the statement of another period. */
  async matchOurs(period: { from: Date; to: Date }): Promise<void> {
    let after: { capturedAt: string; id: string } | undefined = { capturedAt: "-infinity", id: "" };
    while (after) {
      const page: Awaited<ReturnType<typeof capturedIn>> = await capturedIn(
        this.#deps.db,
        this.#account.id,
        period,
        after,
        pageMax,
      );
      const unseen = page.lines.filter((line) => !this.#seen.has(key(line)));
      const missing: Difference[] = [];
      for (const paymentId of new Set(unseen.map((line) => line.paymentId))) {
        missing.push(
          ...(await this.#missing(
            unseen.filter((line) => line.paymentId === paymentId),
            page.lines,
          )),
        );
      }
      await this.#keep(missing);
      after = page.next;
    }
  }

  /** The lines of a payment that its processor does not have. */
  async #missing(lines: readonly OurLine[], all: readonly OurLine[]): Promise<Difference[]> {
    const paymentId = lines[0]?.paymentId;
    const ref = all.find((line) => line.paymentId === paymentId && line.object === "payment")?.ref;
    if (ref === undefined) return [];
    const answer = await this.#connector.retrieveIntent(this.#account, ref);
    if (answer.kind === "not_found") return lines.map(missingThere);
    const report = provenValue(answer);
    const known = new Set([...report.refunds, ...report.disputes].map((one) => one.ref));
    const paid = report.facts.some((fact) => fact.kind === "attempt_succeeded" && fact.capturedAmount > 0n);
    return lines.filter((line) => (line.object === "payment" ? !paid : !known.has(line.ref))).map(missingThere);
  }

  async #keep(differences: readonly Difference[]): Promise<void> {
    this.result.differences += differences.length;
    await keepDifferences(this.#deps, this.#account, differences);
  }
}

/** Stores differences; each new one raises a money alert. */
export async function keepDifferences(
  { db, log, metrics }: Pick<VerifyDeps, "db" | "log" | "metrics">,
  { id: accountId, connector }: Pick<ProcessorAccount, "id" | "connector">,
  differences: readonly Difference[],
): Promise<void> {
  const fresh = await recordDifferences(db, accountId, differences);
  if (fresh === 0) return;
  metrics.moneyAlerts.inc({ kind: "statement_difference" }, fresh);
  for (const { object, ref, kind, paymentId } of differences) {
    metrics.statementDifferences.inc({ connector, kind });
    const fields = { alert: "statement_difference", object, ref, kind, payment_id: paymentId };
    log.fatal({ ...fields, connector_account_id: accountId }, "statement and books differ");
  }
}

function key({ object, ref }: Pick<StatementLine, "object" | "ref">): string {
  return `${object} ${ref}`;
}
