// The journal: entries of everybody, a merchant or a payment, newest first, and the way to adjustments.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { JournalEntry } from "#proto/payments/v1/journal_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { codesOf, translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { dayOf, formatEnvironment, merchantLink, storyLink } from "../../../view/operator-forms.ts";
import { pages } from "../../../view/pieces.ts";
import { table } from "../../../view/table.ts";
import { moment, money } from "../../../view/values.ts";

const pageSize = 50;
const dayMs = 86_400_000;

interface Filters {
  /** `mer_…` or `pay_…`. */
  readonly of: string;
  readonly environment: string;
  readonly account: string;
  readonly since: string;
  readonly until: string;
}

export function journalRoutes(context: ConsoleContext): void {
  operatorPage(context, "/journal", "journal.read", async (visit) => await entriesPage(context, visit));
}

async function entriesPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).journal;
  const query = queryOf(visit);
  const filters = filtersOf(query);
  const pageToken = query.get("page") ?? "";
  const { entries, nextPageToken } = await peers.journal.listEntries({
    ...buildRequest(filters),
    limit: pageSize,
    pageToken,
  });
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p>${texts.text}</p>
<nav class="part-links" aria-label="${texts.title}"><a href="/journal" aria-current="true">${texts.entries}</a><a href="/journal/adjustments">${texts.adjustments}</a></nav>
${filterForm(visit, filters)}${entryTable(visit, entries)}
${pages(language, { path: "/journal", query, next: nextPageToken, total: entries.length, cursor: "page" })}`,
  };
}

/** `merchant` and `payment` stand in the addresses of other pages. */
function filtersOf(query: URLSearchParams): Filters {
  const of = (name: string) => (query.get(name) ?? "").trim().slice(0, 64);
  return {
    of: of("of") || of("merchant") || of("payment"),
    environment: ["sandbox", "live"].find((each) => each === of("environment")) ?? "",
    account: codesOf("journalAccounts").find((each) => each === of("account")) ?? "",
    since: of("since"),
    until: of("until"),
  };
}

function buildRequest({ of, environment, account, since, until }: Filters) {
  const [first, last] = [dayOf(since), dayOf(until)];
  const environments: Readonly<Record<string, Environment>> = { sandbox: Environment.SANDBOX, live: Environment.LIVE };
  return {
    merchantId: of.startsWith("mer_") ? of : "",
    // Whatever is no merchant's id is a payment's, and finds nothing when it is none.
    paymentId: of.startsWith("mer_") ? "" : of,
    environment: environments[environment] ?? Environment.UNSPECIFIED,
    account,
    ...(first && { since: timestampFromDate(first) }),
    // The day that is named is in.
    ...(last && { until: timestampFromDate(new Date(last.getTime() + dayMs)) }),
  };
}

function filterForm({ language }: OperatorVisit, filters: Filters): Html {
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  const option = (value: string, label: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ""}>${label}</option>`;
  const environmentOptions = [
    option("", ownTexts.both, filters.environment),
    option("live", ownTexts.live, filters.environment),
    option("sandbox", ownTexts.sandbox, filters.environment),
  ];
  const accounts = ["", ...codesOf("journalAccounts")].map((each) =>
    option(each, each === "" ? texts.anyAccount : translateCode(language, "journalAccounts", each), filters.account),
  );
  return html`<form method="get" action="/journal" role="search" class="filters"><label class="visually-hidden" for="of">${texts.merchantOrPayment}</label>
<input id="of" name="of" type="search" value="${filters.of}" placeholder="${texts.merchantOrPayment}" maxlength="64" data-search>
<label class="visually-hidden" for="environment">${ownTexts.environment}</label><select id="environment" name="environment">${environmentOptions}</select>
<label class="visually-hidden" for="account">${texts.account}</label><select id="account" name="account">${accounts}</select>
<label class="visually-hidden" for="since">${textsOf(language).people.since}</label><input id="since" name="since" type="date" value="${filters.since}">
<label class="visually-hidden" for="until">${textsOf(language).people.until2}</label><input id="until" name="until" type="date" value="${filters.until}">
<button class="button secondary">${ownTexts.find}</button></form>`;
}

function entryTable(visit: OperatorVisit, entries: readonly JournalEntry[]): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  return table({
    caption: texts.entries,
    rows: entries,
    empty: texts.noEntries,
    columns: [
      { heading: ownTexts.at, cell: ({ createdAt }) => moment(language, createdAt) },
      { heading: texts.what, cell: (entry) => html`<span><code>${entry.kind}</code><br>${causeLink(entry)}</span>` },
      { heading: texts.from, cell: ({ debit }) => translateCode(language, "journalAccounts", debit) },
      { heading: texts.to, cell: ({ credit }) => translateCode(language, "journalAccounts", credit) },
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => money(language, amount, currency) },
      { heading: texts.payment, cell: ({ paymentId }) => storyLink(paymentId) },
      {
        heading: ownTexts.merchant,
        cell: (each) =>
          html`<span>${merchantLink(visit, each.merchantId)}<br>${formatEnvironment(language, each.environment)}</span>`,
      },
    ],
  });
}

function causeLink({ kind, cause }: JournalEntry): Html {
  const id = html`<code>${cause}</code>`;
  return kind === "adjusted" ? html`<a href="/journal/adjustments/${cause}">${id}</a>` : id;
}
