// The applications table, mapped.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { ApplicationStatus } from "../rules/application.ts";

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

/** The application, locked until the transaction ends; what is assigned to it is written at the commit. */
export function lockApplication(em: SqlEntityManager, id: string): Promise<Application | null> {
  return em.findOne(ApplicationEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Newest first. @param beforeId only older ones; absent: from the newest on. */
export function listApplications(
  em: SqlEntityManager,
  filter: { status: ApplicationStatus | undefined; beforeId: string | undefined; limit: number },
): Promise<Application[]> {
  const where = {
    ...(filter.status === undefined ? {} : { status: filter.status }),
    ...(filter.beforeId === undefined ? {} : { id: { $lt: filter.beforeId } }),
  };
  return em.find(ApplicationEntity, where, { orderBy: { id: "desc" }, limit: filter.limit });
}
