// `tollbooth recovery …`: services whose database was restored or lost commits in a failover.
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import type { GetRecoveryResponse } from "#proto/status/v1/recovery_pb.ts";
import { type Source, sources } from "../../../services/services.ts";
import { type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { timeOf, timeText } from "../wire.ts";
import { countOf, rebuildPass } from "./recovery-pass.ts";
import { checkRecovery, problemOutcome, reportRows, runRecovery, takeBack } from "./recovery-run.ts";

const byOption = {
  by: { value: "name", about: "your name or e-mail, stored in the audit log", needed: true },
} as const;
const noteOptions = { ...byOption, note: { value: "text", about: "why, kept", needed: true } } as const;
const serviceOption = { service: { value: "name", about: `only one of ${sources.join(", ")}` } } as const;
// Readable by a person; programs use --json with a larger --limit.
const limitDefault = 20;

export const recovery: Commands = {
  status: {
    about: "one line per service: whether it is in recovery, since when, and missing events; exit code 1 if one is",
    run: async (peers) => {
      const states = await Promise.all(sources.map((name) => peers.recovery[name].getRecovery({ limit: 0 })));
      const rows = states.map(stateRow);
      return { rows, isBad: states.some(({ why }) => why !== "") };
    },
  },
  missing: {
    about: "events since the backup that a service announced and its database lacks, oldest first",
    options: {
      ...serviceOption,
      limit: { value: "n", about: `maximum per service; default: ${limitDefault}` },
    },
    run: async (peers, input) => {
      const limit = Number(input.text("limit") || limitDefault);
      const states = await Promise.all(
        chosenServices(input).map((name) => peers.recovery[name].getRecovery({ limit })),
      );
      const left = states.reduce((sum, { eventsMissing }) => sum + Number(eventsMissing), 0);
      const rows = states.flatMap(missingRows);
      return { rows, remark: `${rows.length} of ${left}` };
    },
  },
  history: {
    about: "the actions of recoveries, oldest first",
    options: serviceOption,
    run: async (peers, input) => {
      const states = await Promise.all(
        chosenServices(input).map((name) => peers.recovery[name].getRecovery({ limit: 0 })),
      );
      const rows = states.flatMap(({ service, acts }) =>
        acts.map(({ at, act, operator, note }) => ({ service, at: timeText(at), act, by: operator, note })),
      );
      return { rows };
    },
  },
  begin: {
    about: "refuses new sessions, payments and refunds from now on: for a restore that services cannot detect",
    options: { ...noteOptions, ...serviceOption },
    run: async (peers, input) => {
      const request = { operator: input.text("by"), note: input.text("note") };
      for (const name of chosenServices(input)) await peers.recovery[name].beginRecovery(request);
      return { rows: await statesOf(peers, input) };
    },
  },
  "take-back": {
    about: "puts missing events back into the outboxes; safe to repeat",
    options: { ...byOption, ...serviceOption },
    run: async (peers, input) => {
      const rows: Row[] = [];
      for (const service of chosenServices(input))
        rows.push({ service, taken_back: await takeBack(peers, service, input.text("by")) });
      return { rows };
    },
  },
  rebuild: {
    about:
      "rebuilds lost sessions and keys from missing events, and lost payments from the processors by sessions and events; safe to repeat",
    options: { since: { value: "time", about: "shortly before the backup, RFC 3339", needed: true } },
    run: async (peers, input) => {
      const since = timeOf(input, "since");
      if (!since) throw new UsageError("needed: --since");
      const pass = await rebuildPass(peers, since, false, console.error);
      const rows = pass.objects.map((each) => ({ ...each, outcome: words[each.outcome] ?? "" }));
      const count = (outcome: RebuildOutcome) => countOf(pass, outcome);
      const [known, rebuilt] = [count(RebuildOutcome.KNOWN), count(RebuildOutcome.REBUILT)];
      const [notFound, failed] = [count(RebuildOutcome.NOT_FOUND), count(RebuildOutcome.FAILED)];
      const remark = `${known} known, ${rebuilt} rebuilt, ${notFound} not found at any processor, ${failed} failed (run it again)`;
      return { rows: rows.filter(({ outcome }) => outcome !== "known"), remark, isBad: failed > 0 };
    },
  },
  run: {
    about:
      "runs all steps after a restore: rebuilds lost objects, takes events back, publishes events again for consumers, checks, and ends the recovery if no problem remains; prints the remaining steps for a person; safe to repeat",
    options: {
      ...byOption,
      since: {
        value: "time",
        about: "shortly before the backup, RFC 3339; default: an hour before the oldest lost event",
      },
      "end-anyway": { value: "why", about: "ends it despite problems; stored in the audit log" },
    },
    run: async (peers, input) => {
      const by = input.text("by");
      const found = await runRecovery(peers, { by, since: timeOf(input, "since") }, console.error);
      if (found.whys.size === 0) return { rows: [], remark: "no service is in recovery" };
      const why = input.text("end-anyway");
      const rows = reportRows(found);
      const count = found.problems.length;
      if (count > 0 && why === "") return { rows, remark: `${count} problems: the recovery continues`, isBad: true };
      const note = why || `everything since ${found.since.toISOString()} was checked`;
      for (const name of found.whys.keys()) {
        await peers.recovery[name].endRecovery({ operator: by, note, anyway: count > 0 });
      }
      return { rows, remark: "the recovery has ended" };
    },
  },
  end: {
    about:
      "ends the recovery: new sessions, payments and refunds are accepted; refuses, with a list, while lost objects can be rebuilt",
    options: {
      ...noteOptions,
      ...serviceOption,
      since: { value: "time", about: "as of run" },
      anyway: { about: "skips the checks; needs --note with the reason for the audit log" },
    },
    run: async (peers, input) => {
      const request = { operator: input.text("by"), note: input.text("note"), anyway: input.has("anyway") };
      if (!request.anyway) {
        const found = await checkRecovery(peers, timeOf(input, "since"), console.error);
        if (found.problems.length > 0) {
          const remark = `${found.problems.length} problems: the recovery continues (tollbooth recovery run, or --anyway)`;
          return { rows: reportRows(found).filter(({ outcome }) => outcome === problemOutcome), remark, isBad: true };
        }
      }
      for (const name of chosenServices(input)) await peers.recovery[name].endRecovery(request);
      return { rows: await statesOf(peers, input) };
    },
  },
};

const words: { readonly [O in RebuildOutcome]: string } = {
  [RebuildOutcome.UNSPECIFIED]: "",
  [RebuildOutcome.KNOWN]: "known",
  [RebuildOutcome.REBUILT]: "rebuilt",
  [RebuildOutcome.NOT_FOUND]: "not found",
  [RebuildOutcome.FAILED]: "failed",
};

function chosenServices(input: CommandInput): Source[] {
  const wanted = input.text("service");
  if (wanted === "") return [...sources];
  const found = sources.filter((name) => name === wanted);
  if (found.length === 0) throw new UsageError(`--service must be one of ${sources.join(", ")}`);
  return found;
}

async function statesOf(peers: OperatorPeers, input: CommandInput): Promise<Row[]> {
  return (await Promise.all(chosenServices(input).map((name) => peers.recovery[name].getRecovery({ limit: 0 })))).map(
    stateRow,
  );
}

function stateRow({ service, why, since, eventsMissing, eventsTakenBack }: GetRecoveryResponse): Row {
  const counts = { events_missing: Number(eventsMissing), events_taken_back: Number(eventsTakenBack) };
  return { service, recovering: why !== "", why, since: timeText(since), ...counts };
}

function missingRows({ service, events }: GetRecoveryResponse): Row[] {
  return events.map(({ type, objectId, merchantId, occurredAt }) => {
    return { service, type, object: objectId, merchant: merchantId, at: timeText(occurredAt) };
  });
}
