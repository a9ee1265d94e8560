// `tollbooth recovery run`: all steps after a restore, each safe to repeat, so a killed run is run again.
// 1 find services in recovery and the time of the backup · 2 repeat passes over lost objects until one rebuilds nothing
// 3 put missing events back into the outboxes · 4 publish events again for all consumers · 5 check · 6 end the recovery
import { setTimeout as pause } from "node:timers/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { type Source, sources } from "../../../services/services.ts";
import { UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { isKeyEnd, type LostRecord, lostEvents, missingAccounts, toDoAbout } from "./recovery-lost.ts";
import { countOf, type Pass, rebuildPass } from "./recovery-pass.ts";

export type Log = (line: string) => void;

export interface Findings {
  readonly since: Date;
  /** Services in recovery with their reasons. */
  readonly whys: ReadonlyMap<Source, string>;
  readonly lost: readonly LostRecord[];
  readonly pass: Pass;
  readonly sentAgain: ReadonlyMap<Source, number>;
  readonly problems: readonly Problem[];
}

export interface Problem {
  readonly what: string;
  readonly object: string;
  readonly merchant: string;
  readonly toDo: string;
}

// Covers work in progress at the time of the backup, and clock differences.
const marginMs = 3_600_000;
// Outboxes keep events for eight days.
const replayMsMax = 7.9 * 86_400_000;
// The first pass rebuilds, the second finds nothing new; a third covers work done meanwhile.
const passesMax = 5;
// A service repeats its changes within two seconds, and detects a replaced database as fast.
const doAgainMsMax = 15_000;
const pauseMs = 500;
/** In the report's column `outcome`. */
export const problemOutcome = "PROBLEM";
// For data that a run did not read.
const nothing: Pass = { objects: [], unread: [], without: [], differing: [] };

/** All steps except the end. @param options.since undefined: from the oldest lost event */
export async function runRecovery(
  peers: OperatorPeers,
  options: { readonly by: string; readonly since: Date | undefined },
  log: Log,
): Promise<Findings> {
  const found = await readFindings(peers, options.since, log);
  if (found.whys.size === 0) return found;
  let { pass } = found;
  const rebuilt = new Map<string, Pass["objects"][number]>();
  const note = () => {
    for (const each of pass.objects) if (each.outcome === RebuildOutcome.REBUILT) rebuilt.set(each.object, each);
  };
  note();
  for (let passes = 1; passes < passesMax && countOf(pass, RebuildOutcome.REBUILT) > 0; passes++) {
    log(`${countOf(pass, RebuildOutcome.REBUILT)} rebuilt; running another pass`);
    pass = await passOver(peers, found.whys, found.since, log);
    note();
  }
  for (const service of takeBackOrder) {
    const restored = await takeBack(peers, service, options.by);
    if (restored > 0) log(`${service}: ${restored} events taken back`);
  }
  const sentAgain = await sendAgain(peers, found.since, options.by, log);
  const lost = await untilDoneAgain(peers);
  const whole = { ...pass, objects: pass.objects.map((each) => rebuilt.get(each.object) ?? each) };
  const done = { ...found, lost, sentAgain, pass: whole };
  return { ...done, problems: await problemsOf(peers, done, log) };
}

/** Checks without changes whether the recovery can end. */
export async function checkRecovery(peers: OperatorPeers, since: Date | undefined, log: Log): Promise<Findings> {
  const found = await readFindings(peers, since, log);
  return found.whys.size === 0 ? found : { ...found, problems: await problemsOf(peers, found, log) };
}

/** Steps 1 and 2, with a single pass. */
async function readFindings(peers: OperatorPeers, sinceOption: Date | undefined, log: Log): Promise<Findings> {
  const whys = new Map<Source, string>();
  for (const service of sources) {
    const { why } = await peers.recovery[service].getRecovery({ limit: 0 });
    if (why !== "") whys.set(service, why);
  }
  const lost = await lostEvents(peers);
  const since = sinceOption ?? oldestOf(lost);
  const empty = { since: since ?? new Date(), whys, lost, pass: nothing, sentAgain: new Map(), problems: [] };
  if (whys.size === 0) return empty;
  if (!since) {
    throw new UsageError("no lost event shows the time of the backup: --since <shortly before the backup, RFC 3339>");
  }
  log(`recovering: ${[...whys].map(([service, why]) => `${service} (${why})`).join(", ")}`);
  log(`${lost.length} lost events; checking everything since ${since.toISOString()}`);
  return { ...empty, since, pass: await passOver(peers, whys, since, log) };
}

async function passOver(peers: OperatorPeers, whys: ReadonlyMap<Source, string>, since: Date, log: Log): Promise<Pass> {
  if (!whys.has("checkout") && !whys.has("payments")) return nothing;
  const pass = await rebuildPass(peers, since, whys.has("payments"), log);
  const count = (outcome: RebuildOutcome) => countOf(pass, outcome);
  log(
    `${count(RebuildOutcome.KNOWN)} known, ${count(RebuildOutcome.REBUILT)} rebuilt, ${count(RebuildOutcome.NOT_FOUND)} not found, ${count(RebuildOutcome.FAILED)} failed`,
  );
  return pass;
}

function oldestOf(lost: readonly LostRecord[]): Date | undefined {
  const times = lost.flatMap(({ at }) => (at ? [at.getTime()] : []));
  return times.length === 0 ? undefined : new Date(Math.min(...times) - marginMs);
}

// Sources first confirm their announcements to others; merchant has the merchants' own changes.
const takeBackOrder: readonly Source[] = ["merchant", "webhook", "payments", "checkout"];

/** Puts missing events back into the outbox. @returns how many */
export async function takeBack(peers: OperatorPeers, service: Source, operator: string): Promise<number> {
  let [restored, left] = [0, 1];
  while (left > 0) {
    const answer = await peers.recovery[service].takeBackEvents({ operator });
    restored += Number(answer.takenBack);
    left = Number(answer.left);
  }
  return restored;
}

/** Consumers drop known events and create lost deliveries and audit entries. */
async function sendAgain(peers: OperatorPeers, since: Date, operator: string, log: Log): Promise<Map<Source, number>> {
  const sent = new Map<Source, number>();
  const from = new Date(Math.max(since.getTime(), Date.now() - replayMsMax));
  for (const service of sources) {
    const { events } = await peers.replay[service].replayEvents({ since: timestampFromDate(from), operator });
    sent.set(service, Number(events));
  }
  log(`sent again: ${[...sent].map(([service, count]) => `${service} ${count}`).join(", ")}`);
  return sent;
}

async function untilDoneAgain(peers: OperatorPeers): Promise<LostRecord[]> {
  const until = performance.now() + doAgainMsMax;
  for (;;) {
    const lost = await lostEvents(peers);
    const waits = lost.some((one) => isKeyEnd(one) && !one.doneAgain);
    if (!waits || performance.now() > until) return lost;
    await pause(pauseMs);
  }
}

async function problemsOf(
  peers: OperatorPeers,
  { lost, pass }: Pick<Findings, "lost" | "pass">,
  log: Log,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const add = (what: string, object: string, merchant: string, toDo: string) =>
    problems.push({ what, object, merchant, toDo });
  for (const service of sources) {
    const left = lost.filter((one) => one.service === service && !one.takenBack).length;
    if (left > 0) add(`${left} events are missing`, service, "", "tollbooth recovery run, or take-back");
  }
  for (const one of lost) {
    if (isKeyEnd(one) && !one.doneAgain)
      add(`${one.type} is not repeated yet`, one.object, one.merchant, "run it again");
  }
  for (const { object, outcome } of pass.objects) {
    if (outcome !== RebuildOutcome.FAILED) continue;
    add(
      "could not be rebuilt",
      object,
      "",
      "run it again; the service's log has the reason; an event without an image cannot be rebuilt",
    );
  }
  for (const { account, merchant, why } of pass.unread) add(`statement: ${why}`, account, merchant, "run it again");
  for (const { object, merchant } of await missingAccounts(peers, lost)) {
    add(
      "created since the backup and lost, with its credentials",
      object,
      merchant,
      "let it be created again, then run this again",
    );
  }
  for (const { paymentId, differences } of await bookDifferences(peers, log)) {
    add(`books: ${differences.join("; ")}`, paymentId, "", "deploy/runbooks/money-invariant.md");
  }
  return problems;
}

async function bookDifferences({ lostPayments }: OperatorPeers, log: Log) {
  const found: { readonly paymentId: string; readonly differences: readonly string[] }[] = [];
  let [after, checked] = ["", 0];
  do {
    const page = await lostPayments.checkBooks({ after });
    found.push(...page.differences);
    checked += page.checked;
    after = page.next;
  } while (after !== "");
  log(`${checked} payments checked against the journal, ${found.length} differ`);
  return found;
}

const thereAgain = ["there", ""] as const;

/** Unknown losses of a service in recovery without lost events: nothing happened, or the broker lost the events too. */
const unknownWithout: { readonly [S in Source]: string } = {
  checkout:
    "sessions and keys since the backup: a repeat creates another session; ask merchants for their orders since",
  payments: "idempotency keys of refunds since the backup: a repeated partial refund is paid twice",
  merchant: "keys, accounts and branding since the backup: merchants repeat revocations and other changes",
  webhook: "endpoints since the backup: merchants check theirs",
};

/** Further rows for the operator. */
export function reportRows({ whys, lost, pass, sentAgain, problems }: Findings) {
  const row = (what: string, object: string, merchant: string, outcome: string, toDo: string) => {
    return { what, object, merchant, outcome, to_do: toDo };
  };
  const words: { readonly [O in RebuildOutcome]?: readonly [string, string] } = {
    [RebuildOutcome.REBUILT]: ["rebuilt", ""],
    [RebuildOutcome.NOT_FOUND]: [
      "not found",
      "no processor has it: it is unpaid, and a repeat with its key creates it",
    ],
  };
  const nouns = { cs: "session", pay: "payment", re: "refund" };
  const announced = new Set(lost.map(({ object }) => object));
  const objects = pass.objects.flatMap(({ object, outcome, status }) => {
    // An earlier run or the processor's webhook may have rebuilt it.
    const isThereAgain = outcome === RebuildOutcome.KNOWN && announced.has(object);
    const label = isThereAgain ? thereAgain : words[outcome];
    const [prefix = ""] = object.split("_");
    const noun = Object.entries(nouns).find(([each]) => each === prefix)?.[1] ?? "";
    return label ? [row(noun, object, "", `${label[0]} ${status}`.trim(), label[1])] : [];
  });
  const others = lost.flatMap((one) => {
    const toDo = toDoAbout(one);
    if (toDo !== undefined) return [row(one.type, one.object, one.merchant, "lost", toDo)];
    return isKeyEnd(one) ? [row(one.type, one.object, one.merchant, "done again", "")] : [];
  });
  const blind = [...whys.keys()].filter((service) => !lost.some((one) => one.service === service));
  const unknown = blind.map((service) => row("events", service, "", "no events", unknownWithout[service]));
  const without = pass.without.map((account) =>
    row("statement", account, "", "none", "compare payments without events with the processor's dashboard"),
  );
  const differing = pass.differing.map(({ account, count }) =>
    row(
      "statement",
      account,
      "",
      `${count} differences`,
      "payments.v1.StatementService lists them; entries of other systems stay",
    ),
  );
  const again = [...sentAgain].map(([service, count]) => row("events", service, "", `${count} sent again`, ""));
  const open = problems.map(({ what, object, merchant, toDo }) => row(what, object, merchant, problemOutcome, toDo));
  return [...objects, ...others, ...unknown, ...without, ...differing, ...again, ...open];
}
