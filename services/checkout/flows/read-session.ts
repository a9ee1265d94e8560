// A session as its merchant reads it, also one that has left the database (services/archive).
import { requireFound } from "#platform/values/failure.ts";
import type { ArchiveTable } from "../../archive/archive.ts";
import type { CheckoutContext } from "../context.ts";
import { findArchivedSession, findOwnSession, type Owner } from "../store/session-lists.ts";
import type { StoredSession } from "../store/sessions.ts";

/** Columns of the view `archivable` (schema/0018-archive.sql). */
export const archivedSessions: ArchiveTable = {
  noun: "session",
  columns: {
    merchant_id: "STRING",
    environment: "INT32",
    status: "STRING",
    currency: "STRING",
    amount: "INT64",
    order_reference: "STRING",
    payment_link_id: "STRING",
    created_at: "TIMESTAMP",
    completed_at: "TIMESTAMP",
  },
};

/** @throws Failure NOT_FOUND */
export async function readSession(
  { db, archive }: Pick<CheckoutContext, "db" | "archive">,
  owner: Owner,
  id: string,
): Promise<StoredSession> {
  const session = await findOwnSession(db, owner, id);
  if (session) return session;
  const document = requireFound(await archive.find(id));
  return requireFound(await findArchivedSession(db, owner, id, document));
}
