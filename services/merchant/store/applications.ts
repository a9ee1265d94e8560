// The applications table.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql } from "#platform/database/database.ts";
import { type ApplicationStatus, draftDays } from "../rules/application.ts";
import { deleteBatch } from "./rows.ts";

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

export function findApplication(em: SqlEntityManager, id: string): Promise<Application | null> {
  return em.findOne(ApplicationEntity, { id });
}

/** Assigned fields are written at the commit. */
export function lockApplication(em: SqlEntityManager, id: string): Promise<Application | null> {
  return em.findOne(ApplicationEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Newest first, without drafts: a draft's id is its applicant's secret. */
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

/** Deletes expired drafts with their personal data. @returns true if there may be more */
export function sweepDrafts(sql: Sql): Promise<boolean> {
  const condition = `status = 'draft' and created_at <= now() - interval '${draftDays} days' order by id`;
  return deleteBatch(sql, "applications", condition);
}
