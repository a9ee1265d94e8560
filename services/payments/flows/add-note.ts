// Adds a note of the calling person to a payment, in ONE transaction. A form that is sent twice adds one note.
import { callContext } from "#platform/values/call-context.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { isId, newId } from "#platform/values/id.ts";
import { insertNote, listNotes, lockNotes } from "../store/payment-notes.ts";
import type { Owner } from "../store/payment-records.ts";
import { type ArchiveDeps, requireOwnPayment } from "./restore-archived.ts";

// More than a support case ever needs.
const notesMax = 100;

/** @throws Failure NOT_FOUND, FORBIDDEN: no person calls, INVALID_BODY: empty, or the payment has too many notes */
export async function addNote(deps: ArchiveDeps, owner: Owner, paymentId: string, text: string): Promise<void> {
  const author = callContext.getStore()?.actor ?? "";
  if (!isId("person", author)) throw new Failure("FORBIDDEN");
  const note = text.trim();
  if (note === "") throw invalidField("note", "must not be empty");
  await requireOwnPayment(deps, owner, paymentId);
  await deps.db.transaction(async (tx) => {
    await lockNotes(tx, paymentId);
    const notes = await listNotes(tx, owner, paymentId);
    const last = notes.findLast((each) => each.author === author);
    if (last?.note === note) return;
    if (notes.length >= notesMax) throw invalidField("note", `must not be more than note ${notesMax} of the payment`);
    await insertNote(tx, paymentId, { id: newId("note"), author, note });
  });
}
