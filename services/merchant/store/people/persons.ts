// The persons table: the people of the consoles, identified by their unique address.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql } from "#platform/database/database.ts";
import type { Door } from "../../rules/people/door.ts";
import type { Language } from "../../rules/people/person.ts";

export const PersonEntity = defineEntity({
  name: "Person",
  tableName: "persons",
  properties: {
    id: p.string().primary(),
    email: p.string(),
    emailProvedAt: p.datetime(3).nullable(),
    name: p.string(),
    language: p.string().$type<Language>(),
    createdAt: p.datetime(3),
    lastSeenAt: p.datetime(3).nullable(),
  },
});
export type Person = InferEntity<typeof PersonEntity>;

/** Writes the row at once, since other rows refer to it. */
export async function insertPerson(em: SqlEntityManager, person: Person): Promise<void> {
  await em.insert(PersonEntity, person);
}

/** Assigned fields are written at the commit. */
export function lockPerson(em: SqlEntityManager, id: string): Promise<Person | null> {
  return em.findOne(PersonEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

export function lockPersonByEmail(em: SqlEntityManager, email: string): Promise<Person | null> {
  return em.findOne(PersonEntity, { email }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

export async function recordSeen(sql: Sql, id: string, at: Date): Promise<void> {
  await sql.rows("update persons set last_seen_at = greatest(last_seen_at, $2) where id = $1", [id, at.toISOString()]);
}

export function findPersonByEmail(em: SqlEntityManager, email: string): Promise<Person | null> {
  return em.findOne(PersonEntity, { email });
}

/** The person of the address, if they have a membership in the console. One statement, so timing reveals nothing. */
export async function findPersonOfDoor(
  sql: Sql,
  email: string,
  door: Door,
): Promise<{ id: string; language: Language } | undefined> {
  const [row] = await sql.rows<{ id: string; language: Language }>(
    `select p.id, p.language from persons p where p.email = $1
       and exists (select from memberships m where m.person_id = p.id and (m.merchant_id = '') = $2)`,
    [email, door === "operators"],
  );
  return row;
}

export function findPersons(em: SqlEntityManager, ids: readonly string[]): Promise<Person[]> {
  return em.find(PersonEntity, { id: { $in: [...ids] } });
}

/** Whether the person has a passkey for any host, an authenticator app, or a link to the identity provider. */
export async function hasSignInMethod(sql: Sql, personId: string): Promise<boolean> {
  const [row] = await sql.rows<{ has: boolean }>(
    `select exists (select from passkeys where person_id = $1)
       or exists (select from authenticators where person_id = $1 and confirmed_at is not null)
       or exists (select from provider_links where person_id = $1) as has`,
    [personId],
  );
  return row?.has === true;
}
