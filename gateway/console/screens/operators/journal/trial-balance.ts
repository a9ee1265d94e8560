// The trial balance: each account's debits, credits and balance by merchant, environment and currency, now or at the
// end of a day.
import type { TrialBalanceLine } from "#proto/payments/v1/ledger_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { nextDayStart } from "../../../http/day.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { filterForm, filterInput, searchInput } from "../../../view/filter-form.ts";
import { formatEnvironment, merchantLink, partLinks } from "../../../view/operator-forms.ts";
import { cursorLinks } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { moneyText } from "../../../view/values.ts";
import { chooseMerchant, merchantNames } from "../merchants/find-merchant.ts";

const path = "/journal/balance";

export function trialBalanceRoutes(context: ConsoleContext): void {
  operatorPage(context, path, "journal.read", (visit) => trialBalancePage(context, visit));
}

/** The parts of the journal's pages. */
export function journalParts(visit: OperatorVisit, here: string): Html {
  const texts = textsOf(visit.language).journal;
  const parts = [
    ["/journal", texts.entries],
    ["/journal/adjustments", texts.adjustments],
    [path, texts.trialBalance],
  ] as const;
  return partLinks(
    texts.title,
    parts.map(([address, label]) => [address, label, address === here] as const),
  );
}

async function trialBalancePage(context: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).journal;
  const query = queryOf(visit);
  const [typed, until] = [query.get("of") ?? "", query.get("until") ?? ""].map((text) => text.trim().slice(0, 64));
  const { id, choice } = await chooseMerchant(context, visit, { path, query, name: "of", typed: typed ?? "" });
  const at = nextDayStart(until ?? "");
  const request = { merchantId: id, pageToken: query.get("page") ?? "", ...(at && { at }) };
  const { lines, nextPageToken } =
    choice === "" ? await context.peers.ledger.getTrialBalance(request) : { lines: [], nextPageToken: "" };
  const names = await merchantNames(
    context,
    lines.map(({ merchantId }) => merchantId),
  );
  const filters = filterForm(path, texts.title, textsOf(language).operatorForms.find, [
    searchInput({ name: "of", label: textsOf(language).operatorForms.merchant, value: typed ?? "" }),
    filterInput({ name: "until", label: textsOf(language).audit.to, value: until ?? "", type: "date" }),
  ]);
  return {
    title: texts.trialBalance,
    body: html`<h1>${texts.title}</h1><p>${texts.trialBalanceText}</p>${journalParts(visit, path)}${filters}${choice}
${choice === "" ? lineTable(visit, lines, names) : ""}
${cursorLinks(language, { path, query, next: nextPageToken, total: lines.length, cursor: "page" })}`,
  };
}

function lineTable(visit: OperatorVisit, lines: readonly TrialBalanceLine[], names: ReadonlyMap<string, string>): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  const account = (code: string) =>
    translateCode(language, "ledgerAccounts", translateCode(language, "journalAccounts", code));
  return htmlTable({
    caption: texts.trialBalance,
    rows: lines,
    empty: texts.noEntries,
    columns: [
      { heading: texts.account, cell: (line) => account(line.account) },
      { heading: texts.debit, isNumber: true, cell: ({ debit, currency }) => moneyText(language, debit, currency) },
      { heading: texts.credit, isNumber: true, cell: ({ credit, currency }) => moneyText(language, credit, currency) },
      {
        heading: texts.balance,
        isNumber: true,
        cell: ({ debit, credit, currency }) => moneyText(language, debit - credit, currency),
      },
      {
        heading: ownTexts.merchant,
        cell: (each) =>
          html`<span>${merchantLink(visit, each.merchantId, names)}<br>${formatEnvironment(language, each.environment)}</span>`,
      },
    ],
  });
}
