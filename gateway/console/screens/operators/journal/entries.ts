// The journal: entries of all merchants, one merchant or one payment, newest first.
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { JournalEntry } from "#proto/payments/v1/journal_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayStart, nextDayStart } from "../../../http/day.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { codeChoices, codesOf, translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { filterForm, filterInput, filterSelect, searchInput } from "../../../view/filter-form.ts";
import { formatEnvironment, merchantLink, partLinks, storyLink } from "../../../view/operator-forms.ts";
import { cursorLinks } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";

const pageSize = 50;

interface Filters {
  /** `mer_…` or `pay_…`. */
  readonly of: string;
  readonly environment: string;
  readonly account: string;
  readonly since: string;
  readonly until: string;
}

export function journalRoutes(context: ConsoleContext): void {
  operatorPage(context, "/journal", "journal.read", (visit) => entriesPage(context, visit));
}

async function entriesPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).journal;
  const query = queryOf(visit);
  const chosen = filtersOf(query);
  const page = { limit: pageSize, pageToken: query.get("page") ?? "" };
  const { entries, nextPageToken } = await peers.journal.listEntries({ ...buildRequest(chosen), ...page });
  const links = [
    ["/journal", texts.entries, true],
    ["/journal/adjustments", texts.adjustments, false],
  ] as const;
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p>${texts.text}</p>
${partLinks(texts.title, links)}
${filters(visit, chosen)}${entryTable(visit, entries)}
${cursorLinks(language, { path: "/journal", query, next: nextPageToken, total: entries.length, cursor: "page" })}`,
  };
}

/** Other pages link here with `merchant` or `payment`. */
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
  const [first, end] = [dayStart(since), nextDayStart(until)];
  const environments: Readonly<Record<string, Environment>> = { sandbox: Environment.SANDBOX, live: Environment.LIVE };
  return {
    merchantId: of.startsWith("mer_") ? of : "",
    // Any other text is taken as a payment id.
    paymentId: of.startsWith("mer_") ? "" : of,
    environment: environments[environment] ?? Environment.UNSPECIFIED,
    account,
    ...(first && { since: first }),
    ...(end && { until: end }),
  };
}

function filters({ language }: OperatorVisit, { of, environment, account, since, until }: Filters): Html {
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  const { from, to } = textsOf(language).audit;
  const environments = [
    { value: "", label: ownTexts.both },
    { value: "live", label: ownTexts.live },
    { value: "sandbox", label: ownTexts.sandbox },
  ];
  const accounts = codeChoices(language, "journalAccounts", codesOf("journalAccounts"), texts.anyAccount);
  const select = { isCompact: true } as const;
  return filterForm("/journal", texts.title, ownTexts.find, [
    searchInput({ name: "of", label: texts.merchantOrPayment, value: of }),
    filterSelect({
      name: "environment",
      label: ownTexts.environment,
      value: environment,
      choices: environments,
      ...select,
    }),
    filterSelect({ name: "account", label: texts.account, value: account, choices: accounts, ...select }),
    filterInput({ name: "since", label: from, value: since, type: "date" }),
    filterInput({ name: "until", label: to, value: until, type: "date" }),
  ]);
}

function entryTable(visit: OperatorVisit, entries: readonly JournalEntry[]): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  return htmlTable({
    caption: texts.entries,
    rows: entries,
    empty: texts.noEntries,
    columns: [
      { heading: ownTexts.at, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
      { heading: texts.what, cell: (entry) => html`<span><code>${entry.kind}</code><br>${causeLink(entry)}</span>` },
      { heading: texts.from, cell: ({ debit }) => translateCode(language, "journalAccounts", debit) },
      { heading: texts.to, cell: ({ credit }) => translateCode(language, "journalAccounts", credit) },
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
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
