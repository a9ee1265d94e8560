// `tollbooth recovery run`: everything that a restore needs, in its order. 1 who recovers, and since when · 2 passes
// over all that may be lost, until one finds nothing new · 3 the missing events stand in the outboxes again · 4 all
// followers are offered what happened since · 5 is everything as it can be? · 6 the end. Each step may be repeated, so
// that a run that was killed is simply run again.
import { setTimeout as pause } from "node:timers/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { UsageError } from "../command.ts";
import { type OperatorPeers, type ServiceName, serviceNames } from "../peers.ts";
import { type LostRecord, lostEvents, missingAccounts, toDoAbout } from "./recovery-lost.ts";
import { countOf, type Pass, rebuildPass } from "./recovery-pass.ts";

export type Log = (line: string) => void;

/** What was found, and what stands between here and the end. */
export interface Findings {
  readonly since: Date;
  /** Of the services that recover; empty: none does. */
  readonly whys: ReadonlyMap<ServiceName, string>;
  readonly lost: readonly LostRecord[];
  readonly pass: Pass;
  readonly sentAgain: ReadonlyMap<ServiceName, number>;
  readonly problems: readonly Problem[];
}

export interface Problem {
  readonly what: string;
  readonly object: string;
  readonly merchant: string;
  readonly toDo: string;
}

// What was under way at the time of the backup, and clocks that differ.
const marginMs = 3_600_000;
// Outboxes keep events for eight days.
const replayMsMax = 7.9 * 86_400_000;
// The first one rebuilds, the second one finds it known; a third one is for what came meanwhile.
const passesMax = 5;
// A service does again what it can within two seconds, and notices a database that was exchanged as soon.
const doAgainMsMax = 15_000;
const pauseMs = 500;
/** In the report's column `outcome`. */
export const problemOutcome = "PROBLEM";
// Takes the place of what a run has not read.
const nothing: Pass = { objects: [], unread: [], without: [], differing: [] };

/** All but the end. @param options.since undefined: from the oldest lost event on */
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
    log(`${countOf(pass, RebuildOutcome.REBUILT)} rebuilt; once more, for what came meanwhile`);
    pass = await passOver(peers, found.whys, found.since, log);
    note();
  }
  for (const service of takeBackOrder) await takeBack(peers, service, options.by, log);
  const sentAgain = await sendAgain(peers, found.since, options.by, log);
  const lost = await untilDoneAgain(peers);
  const whole = { ...pass, objects: pass.objects.map((each) => rebuilt.get(each.object) ?? each) };
  const done = { ...found, lost, sentAgain, pass: whole };
  return { ...done, problems: await problemsOf(peers, done, log) };
}

/** The same without a change: what stands in the way of an end. */
export async function checkRecovery(peers: OperatorPeers, since: Date | undefined, log: Log): Promise<Findings> {
  const found = await readFindings(peers, since, log);
  return found.whys.size === 0 ? found : { ...found, problems: await problemsOf(peers, found, log) };
}

/** Steps 1 and 2, by one pass. */
async function readFindings(peers: OperatorPeers, sinceOption: Date | undefined, log: Log): Promise<Findings> {
  const whys = new Map<ServiceName, string>();
  for (const service of serviceNames) {
    const { why } = await peers.recovery[service].getRecovery({ limit: 0 });
    if (why !== "") whys.set(service, why);
  }
  const lost = await lostEvents(peers);
  const since = sinceOption ?? oldestOf(lost);
  const empty = { since: since ?? new Date(), whys, lost, pass: nothing, sentAgain: new Map(), problems: [] };
  if (whys.size === 0) return empty;
  if (!since) {
    throw new UsageError("no lost event tells since when: --since <a little before the backup's time, RFC 3339>");
  }
  log(`recovering: ${[...whys].map(([service, why]) => `${service} (${why})`).join(", ")}`);
  log(`${lost.length} lost events; everything since ${since.toISOString()} is looked at`);
  return { ...empty, since, pass: await passOver(peers, whys, since, log) };
}

async function passOver(
  peers: OperatorPeers,
  whys: ReadonlyMap<ServiceName, string>,
  since: Date,
  log: Log,
): Promise<Pass> {
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

// Whoever asks whether an event was announced is answered by its source; merchants' own changes first.
const takeBackOrder: readonly ServiceName[] = ["merchant", "webhook", "payments", "checkout"];

async function takeBack(peers: OperatorPeers, service: ServiceName, operator: string, log: Log): Promise<void> {
  let [restored, left] = [0, 1];
  while (left > 0) {
    const answer = await peers.recovery[service].takeBackEvents({ operator });
    restored += Number(answer.takenBack);
    left = Number(answer.left);
  }
  if (restored > 0) log(`${service}: ${restored} events taken back`);
}

/** Deliveries and audit entries that were lost are made from them; who knows them drops them. */
async function sendAgain(
  peers: OperatorPeers,
  since: Date,
  operator: string,
  log: Log,
): Promise<Map<ServiceName, number>> {
  const sent = new Map<ServiceName, number>();
  const from = new Date(Math.max(since.getTime(), Date.now() - replayMsMax));
  for (const service of serviceNames) {
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

function isKeyEnd({ type }: LostRecord): boolean {
  return ["api_key.revoked", "api_key.rolled", "api_key.limited"].includes(type);
}

async function problemsOf(
  peers: OperatorPeers,
  { lost, pass }: Pick<Findings, "lost" | "pass">,
  log: Log,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const add = (what: string, object: string, merchant: string, toDo: string) =>
    problems.push({ what, object, merchant, toDo });
  for (const service of serviceNames) {
    const left = lost.filter((one) => one.service === service && !one.takenBack).length;
    if (left > 0) add(`${left} events are missing`, service, "", "tollbooth recovery run, or take-back");
  }
  for (const one of lost) {
    if (isKeyEnd(one) && !one.doneAgain) add(`${one.type} is not done again`, one.object, one.merchant, "run it again");
  }
  for (const { object, outcome } of pass.objects) {
    if (outcome !== RebuildOutcome.FAILED) continue;
    add(
      "could not be rebuilt",
      object,
      "",
      "run it again; the service's log says why, and an event without an image never has one",
    );
  }
  for (const { account, merchant, why } of pass.unread) add(`statement: ${why}`, account, merchant, "run it again");
  for (const { object, merchant } of await missingAccounts(peers, lost)) {
    add(
      "made since the backup and gone, with its credentials",
      object,
      merchant,
      "have it made again, and run it again",
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

/**
 * What nobody knows where a service recovers and its stream tells of nothing: either nothing happened, or the broker
 * lost it too.
 */
const unknownWithout: { readonly [S in ServiceName]: string } = {
  checkout: "sessions and keys used since the backup: a repeat makes another one; ask merchants what they sold since",
  payments: "keys of refunds used since the backup: a repeat of a partial one makes another one",
  merchant:
    "keys, accounts, branding since the backup: merchants revoke again what they revoked, and make the rest again",
  webhook: "endpoints since the backup: merchants look at theirs",
};

/** What a person should know and do besides, one row each. */
export function reportRows({ whys, lost, pass, sentAgain, problems }: Findings) {
  const row = (what: string, object: string, merchant: string, outcome: string, toDo: string) => {
    return { what, object, merchant, outcome, to_do: toDo };
  };
  const words: { readonly [O in RebuildOutcome]?: readonly [string, string] } = {
    [RebuildOutcome.REBUILT]: ["rebuilt", ""],
    [RebuildOutcome.NOT_FOUND]: [
      "not found",
      "no processor has it: nobody has paid it, and a repeat with its key makes it",
    ],
  };
  const nouns = { cs: "session", pay: "payment", re: "refund" };
  const announced = new Set(lost.map(({ object }) => object));
  const objects = pass.objects.flatMap(({ object, outcome, status }) => {
    // An earlier run may have rebuilt it, or the processor's webhook.
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
  const unknown = blind.map((service) => row("events", service, "", "none to go by", unknownWithout[service]));
  const without = pass.without.map((account) =>
    row("statement", account, "", "there is none", "compare with the processor's dashboard what no event names"),
  );
  const differing = pass.differing.map(({ account, count }) =>
    row(
      "statement",
      account,
      "",
      `${count} differences`,
      "payments.v1.StatementService lists them; what is not ours stays",
    ),
  );
  const again = [...sentAgain].map(([service, count]) => row("events", service, "", `${count} sent again`, ""));
  const open = problems.map(({ what, object, merchant, toDo }) => row(what, object, merchant, problemOutcome, toDo));
  return [...objects, ...others, ...unknown, ...without, ...differing, ...again, ...open];
}
