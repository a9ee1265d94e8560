// access.v1.TeamService.
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import type { TeamSource } from "#platform/rpc/teams.ts";
import { invalidField } from "#platform/values/failure.ts";
import {
  ListTeamTokensResponseSchema,
  TeamSchema,
  type TeamService,
  type TeamToken,
  TeamTokenSchema,
  VerifyWorkloadResponseSchema,
} from "#proto/access/v1/teams_pb.ts";
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
      return { team: toTeam(context, issued.team), token: issued.token };
    },
    async listTeams() {
      return { teams: (await listTeams(context.db)).map((team) => toTeam(context, team)) };
    },
    async rotateTeam({ name, overlapSeconds }) {
      const { team, token } = await rotateTeam(context, name, overlapSeconds);
      return { team: toTeam(context, team), token };
    },
    async removeTeam({ name }) {
      await removeTeam(context, name);
      return {};
    },
    async listTeamTokens() {
      return { tokens: await readTeamTokens(context) };
    },
    async verifyWorkload({ token }) {
      return await verifyWorkload(context, token);
    },
  };
}

/** For this service's own RPC port. */
export function teamSource(context: TeamContext): TeamSource {
  return {
    listTeamTokens: async () => create(ListTeamTokensResponseSchema, { tokens: await readTeamTokens(context) }),
    verifyWorkload: async ({ token = "" }) =>
      create(VerifyWorkloadResponseSchema, await verifyWorkload(context, token)),
  };
}

type TeamContext = Pick<MerchantContext, "db" | "workloads">;

async function readTeamTokens(context: TeamContext): Promise<TeamToken[]> {
  const tokens = await listTeamTokens(context.db);
  return tokens.map(({ team, digest }) => create(TeamTokenSchema, { team: toTeam(context, team), digest }));
}

async function verifyWorkload({ workloads }: TeamContext, token: string) {
  const verified = await workloads?.verify(token);
  return verified ? { workload: verified.name, expiresAt: timestampFromDate(verified.expiresAt) } : {};
}

function toTeam({ workloads }: TeamContext, team: Team) {
  return create(TeamSchema, {
    ...messageFields(team),
    workloads: [...(workloads?.teams ?? [])].flatMap(([workload, name]) => (name === team.name ? [workload] : [])),
    rights: [...team.rights],
    merchantIds: [...team.merchantIds],
  });
}
