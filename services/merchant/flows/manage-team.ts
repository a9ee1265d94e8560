// Creates, rotates and removes internal teams, each in ONE transaction that announces the act to the audit log. Only
// the response contains the token; the database stores its digest.
import { createHash } from "node:crypto";
import type { Announcement } from "#platform/events/outbox.ts";
import { rightName } from "#platform/rpc/teams.ts";
import { randomToken } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { countTeams, deleteTeam, findUnknownMerchants, insertTeam, replaceToken, type Team } from "../store/teams.ts";

// Every service reads all of them each second.
const teamsMax = 100;
const tokenBytes = 32;

interface IssuedToken {
  readonly team: Team;
  readonly token: string;
}

/** @throws Failure INVALID_BODY */
export async function createTeam(context: MerchantContext, input: Omit<Team, "createdAt">): Promise<IssuedToken> {
  const team = { ...input, createdAt: clockNow() };
  if (team.expiresAt && team.expiresAt <= team.createdAt) throw invalidField("expires_at", "must be in the future");
  const { token, digest } = newToken();
  await context.db.transaction(async (tx) => {
    const [unknown] = await findUnknownMerchants(tx, team.merchantIds);
    if (unknown !== undefined) throw invalidField("merchant_ids", `must be known merchants; ${unknown} is not`);
    if ((await countTeams(tx)) >= teamsMax) throw invalidField("name", `must be one of at most ${teamsMax} teams`);
    if (!(await insertTeam(tx, team, digest))) throw invalidField("name", "must be a name that no team has");
    const attributes = {
      rights: team.rights.map(rightName).join(","),
      merchants: team.merchantIds.join(",") || "all",
      rate: String(team.rate),
      expires_at: team.expiresAt?.toISOString() ?? "",
    };
    await context.outbox.append(tx, [{ ...teamEvent("team.created", team.name), attributes }]);
  });
  context.outbox.wake();
  return { team, token };
}

/** @throws Failure NOT_FOUND */
export async function rotateTeam(context: MerchantContext, name: string, overlapSeconds: number): Promise<IssuedToken> {
  const { token, digest } = newToken();
  const formerUntil = new Date(clockNow().getTime() + overlapSeconds * 1_000);
  const team = await context.db.transaction(async (tx) => {
    const rotated = requireFound(await replaceToken(tx, name, digest, formerUntil));
    const attributes = { former_until: formerUntil.toISOString() };
    await context.outbox.append(tx, [{ ...teamEvent("team.rotated", name), attributes }]);
    return rotated;
  });
  context.outbox.wake();
  return { team, token };
}

/** @throws Failure NOT_FOUND */
export async function removeTeam(context: MerchantContext, name: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    if (!(await deleteTeam(tx, name))) throw new Failure("NOT_FOUND");
    await context.outbox.append(tx, [teamEvent("team.removed", name)]);
  });
  context.outbox.wake();
}

function newToken(): { token: string; digest: Buffer } {
  const token = `tb_team_${randomToken(tokenBytes)}`;
  return { token, digest: createHash("sha256").update(token).digest() };
}

/** A team belongs to the installation, not to a merchant. */
function teamEvent(type: string, name: string): Announcement {
  const status = type === "team.removed" ? "removed" : "active";
  const whole = { merchantId: "", environment: Environment.UNSPECIFIED };
  return { type, ...whole, objectId: `team:${name}`, status, at: clockNow() };
}
