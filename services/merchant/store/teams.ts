// The teams table: internal teams as callers, with digests of their tokens.
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import type { Right } from "#proto/access/v1/access_pb.ts";
import type { Stored } from "./rows.ts";

export interface Team {
  readonly name: string;
  readonly rights: readonly Right[];
  /** Empty: all merchants. */
  readonly merchantIds: readonly string[];
  /** Calls per second. */
  readonly rate: number;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

const columns = `name, rights, merchant_ids as "merchantIds", rate, created_at as "createdAt", expires_at as "expiresAt"`;

/** @returns false when the name is taken */
export async function insertTeam(tx: Tx, team: Team, digest: Buffer): Promise<boolean> {
  const rows = await tx.rows(
    `insert into teams (name, rights, merchant_ids, rate, created_at, expires_at, digest)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (name) do nothing returning 1`,
    [
      team.name,
      team.rights,
      team.merchantIds,
      team.rate,
      team.createdAt.toISOString(),
      team.expiresAt?.toISOString() ?? null,
      digest,
    ],
  );
  return rows.length > 0;
}

export async function countTeams(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ n: string }>("select count(*) as n from teams");
  return Number(row?.n ?? 0);
}

/** By name; also teams whose time is over. */
export async function listTeams(sql: Sql): Promise<Team[]> {
  return (await sql.rows<Stored<Team>>(`select ${columns} from teams order by name`)).map(teamOf);
}

/** Tokens that count now: each team's, and its former one until the end of the overlap. */
export async function listTeamTokens(sql: Sql): Promise<{ team: Team; digest: Buffer }[]> {
  const rows = await sql.rows<Stored<Team> & { digest: Buffer; former: Buffer | null }>(
    `select ${columns}, digest, case when former_until > now() then former_digest end as former
     from teams where expires_at is null or expires_at > now()`,
  );
  return rows.flatMap(({ digest, former, ...row }) => {
    const team = teamOf(row);
    return [digest, ...(former ? [former] : [])].map((each) => ({ team, digest: each }));
  });
}

/** The former token counts for the overlap. @returns undefined when there is no such team */
export async function replaceToken(tx: Tx, name: string, digest: Buffer, formerUntil: Date): Promise<Team | undefined> {
  const [row] = await tx.rows<Stored<Team>>(
    `update teams set digest = $2, former_digest = digest, former_until = $3 where name = $1 returning ${columns}`,
    [name, digest, formerUntil.toISOString()],
  );
  return row && teamOf(row);
}

/** @returns false when there is no such team */
export async function deleteTeam(tx: Tx, name: string): Promise<boolean> {
  return (await tx.rows("delete from teams where name = $1 returning 1", [name])).length > 0;
}

/** Those that do not exist. */
export async function findUnknownMerchants(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select id from unnest($1::text[]) as id where not exists (select from merchants m where m.id = id.id)`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

function teamOf({ createdAt, expiresAt, ...team }: Stored<Team>): Team {
  return { ...team, createdAt: parseTime(createdAt), expiresAt: parseTime(expiresAt) };
}
