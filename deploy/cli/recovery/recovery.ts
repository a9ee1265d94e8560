// `tollbooth recovery …`: services whose database was restored, or lost its last commits in a failover.
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import type { GetRecoveryResponse } from "#proto/status/v1/recovery_pb.ts";
import { type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import { type OperatorPeers, type ServiceName, serviceNames } from "../peers.ts";
import { timeOf, timeText } from "../wire.ts";
import { countOf, rebuildPass } from "./recovery-pass.ts";
import { checkRecovery, problemOutcome, reportRows, runRecovery } from "./recovery-run.ts";

const byOption = { by: { value: "name", about: "who does this: a name or an e-mail, kept", needed: true } } as const;
const noteOptions = { ...byOption, note: { value: "text", about: "why, kept", needed: true } } as const;
const serviceOption = { service: { value: "name", about: `only one of ${serviceNames.join(", ")}` } } as const;
// What a person can read; --json with a larger --limit is for programs.
const limitDefault = 20;

export const recovery: Commands = {
  status: {
    about: "one line for each service: whether it recovers, since when, what is missing; exit code 1 while one does",
    run: async (peers) => {
      const states = await Promise.all(serviceNames.map((name) => peers.recovery[name].getRecovery({ limit: 0 })));
      const rows = states.map(stateRow);
      return { rows, isBad: states.some(({ why }) => why !== "") };
    },
  },
  missing: {
    about: "the events that a service announced and its database lacks: what happened since the backup, oldest first",
    options: {
      ...serviceOption,
      limit: { value: "n", about: `at most this many of each; by default ${limitDefault}` },
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
    about: "what was done, oldest first",
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
    about: "no session, payment or refund is begun from now on: for a restore that nothing else can notice",
    options: { ...noteOptions, ...serviceOption },
    run: async (peers, input) => {
      const request = { operator: input.text("by"), note: input.text("note") };
      for (const name of chosenServices(input)) await peers.recovery[name].beginRecovery(request);
      return { rows: await statesOf(peers, input) };
    },
  },
  "take-back": {
    about: "puts what is missing back into the outboxes as it was announced; safe to run again",
    options: { ...byOption, ...serviceOption },
    run: async (peers, input) => {
      const rows: Row[] = [];
      for (const service of chosenServices(input)) {
        let [restored, left] = [0, 1];
        while (left > 0) {
          const answer = await peers.recovery[service].takeBackEvents({ operator: input.text("by") });
          restored += Number(answer.takenBack);
          left = Number(answer.left);
        }
        rows.push({ service, taken_back: restored });
      }
      return { rows };
    },
  },
  rebuild: {
    about:
      "makes lost sessions and keys from the missing events, looks for lost payments at the processors, by sessions made since and by events, and takes them in; safe to run again",
    options: { since: { value: "time", about: "a little before the backup, RFC 3339", needed: true } },
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
      "everything after a restore, in its order: rebuilds what is lost, takes events back, sends again what followers may have missed, checks, and ends the recovery if all is as it can be; prints what a person still does; safe to run again at any time",
    options: {
      ...byOption,
      since: {
        value: "time",
        about: "a little before the backup, RFC 3339; by default an hour before the oldest lost event",
      },
      "end-anyway": { value: "why", about: "ends it although there are problems; kept in the audit log" },
    },
    run: async (peers, input) => {
      const by = input.text("by");
      const found = await runRecovery(peers, { by, since: timeOf(input, "since") }, console.error);
      if (found.whys.size === 0) return { rows: [], remark: "no service recovers" };
      const why = input.text("end-anyway");
      const rows = reportRows(found);
      const count = found.problems.length;
      if (count > 0 && why === "") return { rows, remark: `${count} problems: the recovery goes on`, isBad: true };
      const note = why || `everything since ${found.since.toISOString()} was looked at`;
      for (const name of found.whys.keys()) {
        await peers.recovery[name].endRecovery({ operator: by, note, anyway: count > 0 });
      }
      return { rows, remark: "the recovery has ended" };
    },
  },
  end: {
    about:
      "new sessions, payments and refunds are taken again; refuses, with a list, while something that can be rebuilt is not",
    options: {
      ...noteOptions,
      ...serviceOption,
      since: { value: "time", about: "as of run" },
      anyway: { about: "without a look; --note says why, and the audit log keeps it" },
    },
    run: async (peers, input) => {
      const request = { operator: input.text("by"), note: input.text("note"), anyway: input.has("anyway") };
      if (!request.anyway) {
        const found = await checkRecovery(peers, timeOf(input, "since"), console.error);
        if (found.problems.length > 0) {
          const remark = `${found.problems.length} problems: nothing was ended (tollbooth recovery run, or --anyway)`;
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

function chosenServices(input: CommandInput): ServiceName[] {
  const wanted = input.text("service");
  if (wanted === "") return [...serviceNames];
  const found = serviceNames.filter((name) => name === wanted);
  if (found.length === 0) throw new UsageError(`--service must be one of ${serviceNames.join(", ")}`);
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
