// The applications table, mapped.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql } from "#platform/database/database.ts";
import { type ApplicationStatus, draftDays } from "../rules/application.ts";

export const ApplicationEntity = defineEntity({
  name: "Application",
  tableName: "applications",
  properties: {
    id: p.string().primary(),
    status: p.string().$type<ApplicationStatus>(),
    applicantEmail: p.string(),
    legalName: p.string(),
    tradingName: p.string(),
    countryCode: p.string(),
    currencyCode: p.string(),
    merchantId: p.string().nullable(),
    createdAt: p.datetime(3),
  },
});
export type Application = InferEntity<typeof ApplicationEntity>;

export async function insertApplication(em: SqlEntityManager, application: Application): Promise<void> {
  await em.insert(ApplicationEntity, application);
}

/** The application as it stands. */
export function findApplication(em: SqlEntityManager, id: string): Promise<Application | null> {
  return em.findOne(ApplicationEntity, { id });
}

/** The application, locked until the transaction ends; what is assigned to it is written at the commit. */
export function lockApplication(em: SqlEntityManager, id: string): Promise<Application | null> {
  return em.findOne(ApplicationEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/**
 * Newest first, without drafts: a draft's id is its applicant's secret.
 * @param beforeId only older ones; absent: from the newest on.
 */
export function listApplications(
  em: SqlEntityManager,
  filter: { status: ApplicationStatus | undefined; beforeId: string | undefined; limit: number },
): Promise<Application[]> {
  const where = {
    status: filter.status === undefined ? { $ne: "draft" as const } : { $eq: filter.status, $ne: "draft" as const },
    ...(filter.beforeId === undefined ? {} : { id: { $lt: filter.beforeId } }),
  };
  return em.find(ApplicationEntity, where, { orderBy: { id: "desc" }, limit: filter.limit });
}

const sweepMax = 1_000;

/** Deletes drafts whose time is over, and what they say of a person with them. @returns true when there may be more */
export async function sweepDrafts(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `with over as materialized (
       select id from applications where status = 'draft' and created_at <= now() - make_interval(days => $1)
       order by id limit $2 for update skip locked)
     delete from applications a using over where a.id = over.id returning a.id`,
    [draftDays, sweepMax],
  );
  return rows.length === sweepMax;
}
