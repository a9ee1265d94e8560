// Appends to the audit log and its chains in ONE transaction. It locks the chains' heads first, so appenders to a chain
// take turns.
import type { Database } from "#platform/database/database.ts";
import { advancePosition, entryBytes } from "../rules/audit-chain.ts";
import { type AuditEntry, chainedEntry, insertEntries } from "../store/audit-entries.ts";
import { lockHeads, moveHeads } from "../store/audit-heads.ts";
import { appendLinks, type NewLink } from "../store/audit-links.ts";

/** Appends new entries, each with the next link of its merchant's chain. Stored entries are skipped. */
export async function appendAudit(db: Database, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await db.transaction(async (tx) => {
    const heads = await lockHeads(
      tx,
      entries.map(({ merchantId }) => merchantId),
    );
    const written = await insertEntries(tx, entries);
    const links: NewLink[] = [];
    for (const entry of entries) {
      const { id: entryId, merchantId } = entry;
      // Skips stored entries, and the second of two equal ones.
      if (!written.delete(entryId)) continue;
      const head = heads.get(merchantId);
      if (!head) throw new Error("the head of the chain is not locked");
      const position = advancePosition(head, entryBytes(chainedEntry(entry)));
      heads.set(merchantId, position);
      links.push({ ...position, merchantId, entryId });
    }
    if (links.length === 0) return;
    await appendLinks(tx, links);
    await moveHeads(tx, heads);
  });
}
