// access.v1.TeamService.
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Sql } from "#platform/database/database.ts";
import { invalidField } from "#platform/values/failure.ts";
import { TeamSchema, type TeamService, type TeamToken, TeamTokenSchema } from "#proto/access/v1/teams_pb.ts";
import type { MerchantContext } from "../context.ts";
import { createTeam, removeTeam, rotateTeam } from "../flows/manage-team.ts";
import { listTeams, listTeamTokens, type Team } from "../store/teams.ts";

export function teamsRpc(context: MerchantContext): ServiceImpl<typeof TeamService> {
  return {
    async createTeam({ team }) {
      if (!team) throw invalidField("team", "must be set");
      const { name, rights, merchantIds, rate } = team;
      const expiresAt = team.expiresAt ? timestampDate(team.expiresAt) : null;
      const issued = await createTeam(context, { name, rights, merchantIds, rate, expiresAt });
      return { team: toTeam(issued.team), token: issued.token };
    },
    async listTeams() {
      return { teams: (await listTeams(context.db)).map(toTeam) };
    },
    async rotateTeam({ name, overlapSeconds }) {
      const { team, token } = await rotateTeam(context, name, overlapSeconds);
      return { team: toTeam(team), token };
    },
    async removeTeam({ name }) {
      await removeTeam(context, name);
      return {};
    },
    async listTeamTokens() {
      return { tokens: await readTeamTokens(context.db) };
    },
  };
}

/** Also for this service's own RPC port. */
export async function readTeamTokens(sql: Sql): Promise<TeamToken[]> {
  const tokens = await listTeamTokens(sql);
  return tokens.map(({ team, digest }) => create(TeamTokenSchema, { team: toTeam(team), digest }));
}

function toTeam({ rights, merchantIds, createdAt, expiresAt, ...team }: Team) {
  return create(TeamSchema, {
    ...team,
    rights: [...rights],
    merchantIds: [...merchantIds],
    createdAt: timestampFromDate(createdAt),
    ...(expiresAt && { expiresAt: timestampFromDate(expiresAt) }),
  });
}
