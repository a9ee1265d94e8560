// `tollbooth teams …`: internal teams that read over the internal API (docs/internal-api.md).
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { rightName } from "#platform/rpc/teams.ts";
import { Right } from "#proto/access/v1/access_pb.ts";
import type { Team } from "#proto/access/v1/teams_pb.ts";
import { type Answer, type Commands, type Row, UsageError } from "../command.ts";
import { timeText } from "../wire.ts";

const dayMs = 86_400_000;
const hourSeconds = 3_600;
const rights = Object.values(Right).filter((right) => right !== Right.UNSPECIFIED);
const tokenRemark = "Send the token over a secure channel; it cannot be shown again.";

export const teams: Commands = {
  list: {
    about: "lists the teams by name",
    run: async (peers) => ({ rows: (await peers.teams.listTeams({})).teams.map(rowOf) }),
  },
  show: {
    about: "shows one team",
    args: ["team"],
    run: async (peers, input) => {
      const found = (await peers.teams.listTeams({})).teams.filter(({ name }) => name === input.arg("team"));
      if (found.length === 0) throw new UsageError(`there is no team ${input.arg("team")}`);
      return { rows: found.map(rowOf) };
    },
  },
  create: {
    about: "creates a team and shows its token once",
    args: ["team"],
    options: {
      may: { value: "rights", about: `comma-separated: ${rights.map(rightName).join(", ")}`, needed: true },
      merchants: { value: "mer_…", about: "comma-separated; default: all merchants" },
      rate: { value: "n", about: "most calls per second of each replica, 1 to 10,000; default: 50" },
      expires: { value: "days", about: "for example 90d; default: no end" },
    },
    run: async (peers, input) => {
      const days = input.text("expires");
      const answer = await peers.teams.createTeam({
        team: {
          name: input.arg("team"),
          rights: listOf(input.text("may")).map(rightOf),
          merchantIds: listOf(input.text("merchants")),
          rate: wholeNumber("rate", input.text("rate") || "50", 10_000),
          ...(days && { expiresAt: timestampFromDate(new Date(Date.now() + daysOf(days) * dayMs)) }),
        },
      });
      return issued(answer);
    },
  },
  rotate: {
    about: "gives a team another token, shown once",
    args: ["team"],
    options: { overlap: { value: "hours", about: "how long the former token counts, 0 to 720; default: 24" } },
    run: async (peers, input) => {
      const hours = input.text("overlap") || "24";
      const overlapSeconds = hours === "0" ? 0 : wholeNumber("overlap", hours, 720) * hourSeconds;
      return issued(await peers.teams.rotateTeam({ name: input.arg("team"), overlapSeconds }));
    },
  },
  remove: {
    about: "removes a team; its tokens stop within two seconds",
    args: ["team"],
    run: async (peers, input) => {
      await peers.teams.removeTeam({ name: input.arg("team") });
      return { rows: [{ name: input.arg("team"), status: "removed" }] };
    },
  },
};

function issued({ team, token }: { team?: Team | undefined; token: string }): Answer {
  return { rows: [{ ...(team ? rowOf(team) : {}), token }], remark: tokenRemark };
}

function rowOf({ name, rights: may, merchantIds, rate, expiresAt, createdAt }: Team): Row {
  return {
    name,
    may: may.map(rightName),
    merchants: merchantIds.length > 0 ? merchantIds : ["all"],
    rate,
    expires_at: timeText(expiresAt),
    created_at: timeText(createdAt),
  };
}

function listOf(text: string): string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}

function rightOf(name: string): Right {
  const found = rights.find((right) => rightName(right) === name);
  if (found === undefined)
    throw new UsageError(`--may: there is no right ${name}; rights: ${rights.map(rightName).join(", ")}`);
  return found;
}

function daysOf(text: string): number {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (days === undefined) throw new UsageError("--expires must be days, such as 90d");
  return wholeNumber("expires", days, 3_650);
}

function wholeNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new UsageError(`--${option} must be a whole number from 1 to ${most}`);
  }
  return value;
}
