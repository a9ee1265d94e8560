// Notes of staff on a payment, oldest first, with the form for a new one.
import { Failure } from "#platform/values/failure.ts";
import type { PaymentNote } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { isText } from "../../../http/form.ts";
import { merchantForm } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { textArea } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { renderMissing, unlessAway } from "../../../view/section.ts";
import { preciseTimeText } from "../../../view/values.ts";
import { peopleOf } from "../../settings/audit.ts";

const action = "payments.note";
const noteMax = 1_000;

export function noteRoutes(context: ConsoleContext): void {
  merchantForm(context, "/payments/:paymentId/notes", { action }, async (visit, form) => {
    const { merchantId, environment, base } = visit;
    const paymentId = idParam(visit, "paymentId", "payment");
    const note = form.raw("note").trim();
    const to = `${base}/payments/${paymentId}`;
    if (note === "" || !isText(note, noteMax)) return { go: to, done: "note-refused" };
    try {
      await context.peers.payments.addPaymentNote({ merchantId, environment, paymentId, note });
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== "INVALID_BODY") throw error;
      return { go: to, done: "notes-full" };
    }
    return { go: to, done: "note-added" };
  });
}

export async function loadNotes(context: ConsoleContext, visit: MerchantVisit, paymentId: string): Promise<Html> {
  const { language, merchantId, environment, base } = visit;
  const texts = textsOf(language).payment;
  const found = await unlessAway(() => context.peers.payments.listPaymentNotes({ merchantId, environment, paymentId }));
  if (!found) return renderMissing(language, texts.notes);
  const { notes } = found.value;
  const names = await peopleOf(
    context,
    visit,
    notes.map(({ author }) => author),
  );
  const item = ({ author, note, createdAt }: PaymentNote) =>
    html`<li><strong>${names.get(author) ?? texts.formerMember}</strong> <span class="muted when">${preciseTimeText(language, createdAt)}</span><p class="note">${note}</p></li>`;
  const field = { name: "note", label: texts.noteLabel, value: "", maxlength: noteMax, required: true, rows: 3 };
  const form = visit.may(action)
    ? postForm(visit, {
        action: `${base}/payments/${paymentId}/notes`,
        fields: [textArea(field)],
        button: texts.noteAdd,
        tone: "secondary",
      })
    : "";
  if (notes.length === 0 && form === "") return html``;
  return html`<section class="panel"><h2>${texts.notes}</h2>${notes.length === 0 ? "" : html`<ol class="timeline">${notes.map(item)}</ol>`}${form}</section>`;
}
