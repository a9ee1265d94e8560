// The ledger entries of a payment, and its API request and response for developers.
import type { JournalEntry } from "#proto/payments/v1/journal_pb.ts";
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { presentPayment } from "../../../../json/payment.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { codeBlock } from "../../../view/pieces.ts";
import { renderMissing } from "../../../view/section.ts";
import { table } from "../../../view/table.ts";
import { moment, money } from "../../../view/values.ts";

/** @param entries undefined during an outage */
export function renderBooks({ language }: MerchantVisit, entries: readonly JournalEntry[] | undefined): Html {
  const texts = textsOf(language).payment;
  if (!entries) return renderMissing(language, texts.books);
  return html`<section class="panel"><h2>${texts.books}</h2><p class="muted">${texts.booksText}</p>${table({
    caption: texts.books,
    rows: entries,
    empty: texts.noEntries,
    columns: [
      { heading: texts.what, cell: ({ kind }) => translateCode(language, "books", kind) },
      { heading: texts.debit, cell: ({ debit }) => translateCode(language, "books", debit) },
      { heading: texts.credit, cell: ({ credit }) => translateCode(language, "books", credit) },
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => money(language, amount, currency) },
      { heading: texts.when, cell: ({ createdAt }) => moment(language, createdAt) },
    ],
  })}</section>`;
}

export function renderDeveloperDetails(
  { config }: ConsoleContext,
  { language }: MerchantVisit,
  payment: Payment,
): Html {
  const texts = textsOf(language).payment;
  const address = `${config.API_ORIGIN ?? "https://api.example.com"}/v1/payments/${payment.id}`;
  return html`<details class="more"><summary>${texts.developers}</summary>
<h2>${texts.curl}</h2>${codeBlock(language, `curl ${address} \\\n  -H "Authorization: Bearer $TOLLBOOTH_API_KEY"`)}
<h2>${texts.json}</h2>${codeBlock(language, JSON.stringify(presentPayment(payment), null, 2))}</details>`;
}
