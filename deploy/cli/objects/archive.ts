// `tollbooth archive …`: old months in files instead of the database (docs/archive.md).
import type { ArchiveMonth } from "#proto/status/v1/archive_pb.ts";
import { type Answer, type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { timeText } from "../wire.ts";

const services = ["checkout", "payments"] as const;

export const archive: Commands = {
  list: {
    about: "lists months that were archived or restored, or will be, newest first",
    run: async ({ archives }) => {
      const months = services.map(async (service) => {
        const answer = await archives[service].listMonths({});
        return answer.months.map((month) => rowOf(service, month));
      });
      return { rows: (await Promise.all(months)).flat() };
    },
  },
  run: {
    about: "moves a month's payments and sessions to the archive; it must have ended six months ago",
    args: ["month"],
    run: (peers, input) => begin(peers, input, "archiveMonth"),
  },
  restore: {
    about: "brings a month back into the databases; its files stay",
    args: ["month"],
    run: (peers, input) => begin(peers, input, "restoreMonth"),
  },
};

async function begin(
  { archives }: OperatorPeers,
  input: CommandInput,
  method: "archiveMonth" | "restoreMonth",
): Promise<Answer> {
  const month = input.arg("month");
  if (!/^2\d{3}-(0[1-9]|1[0-2])$/.test(month)) throw new UsageError("a month must be YYYY-MM");
  for (const service of services) await archives[service][method]({ month });
  return { rows: [], remark: "begun: see how far it is with `archive list`" };
}

function rowOf(
  service: string,
  { month, goal, nextTryAt, problem, changedAt, parts, documents, bytes }: ArchiveMonth,
): Row {
  const state = problem === "" ? (nextTryAt ? "under way" : "done") : "failing";
  const size = { files: String(parts), rows: String(documents), bytes: String(bytes) };
  return { month, service, goal, state, ...size, changed_at: timeText(changedAt), problem };
}
