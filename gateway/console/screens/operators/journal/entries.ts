// The journal: entries of all merchants, one merchant or one payment, newest first.
import type { FastifyReply } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { JournalEntry } from "#proto/payments/v1/journal_pb.ts";
import { csvHeading, csvRow, majorUnits } from "../../../../../services/public-json/csv.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayStart, nextDayStart } from "../../../http/day.ts";
import { operatorPage } from "../../../routes.ts";
import { admitOperator, admitPerson } from "../../../session/admit.ts";
import { Downloads, sendCsv } from "../../../session/download.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { codeChoices, codesOf, translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { filterForm, filterInput, filterSelect, searchInput } from "../../../view/filter-form.ts";
import {
  downloadLink,
  environmentCell,
  formatEnvironment,
  merchantLink,
  shortId,
  storyLink,
  timeCell,
} from "../../../view/operator-forms.ts";
import { cursorLinks, withFilter } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";
import { chooseMerchant, merchantNames } from "../merchants/find-merchant.ts";
import { journalParts } from "./trial-balance.ts";

const right = "journal.read";
const pageSize = 50;
// The service's limit.
const fileSize = 200;

interface Filters {
  /** `mer_…` or `pay_…`. */
  readonly of: string;
  readonly environment: string;
  readonly account: string;
  readonly since: string;
  readonly until: string;
}

export function journalRoutes(context: ConsoleContext): void {
  operatorPage(context, "/journal", right, (visit) => entriesPage(context, visit));
  const downloads = new Downloads();
  operatorPage(context, "/journal.csv", right, (visit) => sendEntries(context, downloads, visit));
}

async function sendEntries(context: ConsoleContext, downloads: Downloads, visit: OperatorVisit): Promise<FastifyReply> {
  const chosen = filtersOf(queryOf(visit));
  const { of, choice } = await readOf(context, visit, chosen.of);
  if (choice !== "") throw new Failure("NOT_FOUND");
  const request = { ...buildRequest({ ...chosen, of }), limit: fileSize };
  return await sendCsv(visit, downloads, {
    name: "journal",
    owner: "operators",
    head: csvHeading(entryColumns),
    load: async (pageToken) => {
      const { entries, nextPageToken } = await context.peers.journal.listEntries({ ...request, pageToken });
      const ids = entries.map(({ merchantId }) => merchantId);
      return { entries, nextPageToken, names: await merchantNames(context, ids) };
    },
    linesOf: ({ entries, names }) => entries.map((entry) => entryRow(entry, names)).join(""),
    nextOf: ({ nextPageToken }) => nextPageToken || undefined,
    assertStillMay: async () => admitOperator(await admitPerson(context, visit.request, visit.reply), right),
  });
}

const entryColumns = [
  ...["id", "created_at", "environment", "merchant_id", "merchant_name", "payment_id", "kind", "cause"],
  ...["debit", "credit", "amount", "currency"],
];

function entryRow(entry: JournalEntry, names: ReadonlyMap<string, string>): string {
  const { id, createdAt, environment, merchantId, paymentId, kind, cause, debit, credit, amount, currency } = entry;
  return csvRow([
    ...[String(id), timeCell(createdAt), environmentCell(environment), merchantId, names.get(merchantId) ?? ""],
    ...[paymentId, kind, cause, debit, credit, majorUnits(amount, currency), currency],
  ]);
}

async function entriesPage(context: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).journal;
  const query = queryOf(visit);
  const chosen = filtersOf(query);
  const { of, choice } = await readOf(context, visit, chosen.of);
  const page = { limit: pageSize, pageToken: query.get("page") ?? "" };
  const { entries, nextPageToken } =
    choice === ""
      ? await context.peers.journal.listEntries({ ...buildRequest({ ...chosen, of }), ...page })
      : { entries: [], nextPageToken: "" };
  const ids = [of, ...entries.map(({ merchantId }) => merchantId)];
  const names = await merchantNames(context, ids);
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p>${texts.text}</p>
${journalParts(visit, "/journal")}
${filters(visit, chosen)}${choice}
${choice === "" ? html`${entryTable(visit, entries, names)}${downloadLink(visit, withFilter("/journal.csv", query, { of, merchant: "", payment: "" }))}` : ""}
${cursorLinks(language, { path: "/journal", query, next: nextPageToken, total: entries.length, cursor: "page" })}`,
  };
}

/** A payment's id stays as it is; any other text names a merchant. */
async function readOf(context: ConsoleContext, visit: OperatorVisit, typed: string) {
  if (typed.startsWith("pay_")) return { of: typed, choice: "" };
  const filter = { path: "/journal", query: queryOf(visit), name: "of", typed };
  const { id, choice } = await chooseMerchant(context, visit, filter);
  return { of: id, choice };
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

function entryTable(visit: OperatorVisit, entries: readonly JournalEntry[], names: ReadonlyMap<string, string>): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  return htmlTable({
    caption: texts.entries,
    rows: entries,
    empty: texts.noEntries,
    columns: [
      { heading: ownTexts.at, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
      {
        heading: texts.what,
        cell: (entry) => html`<span>${translateCode(language, "books", entry.kind)}<br>${causeLink(entry)}</span>`,
      },
      { heading: texts.from, cell: ({ debit }) => translateCode(language, "journalAccounts", debit) },
      { heading: texts.to, cell: ({ credit }) => translateCode(language, "journalAccounts", credit) },
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
      { heading: texts.payment, cell: ({ paymentId }) => storyLink(paymentId, true) },
      {
        heading: ownTexts.merchant,
        cell: (each) =>
          html`<span>${merchantLink(visit, each.merchantId, names)}<br>${formatEnvironment(language, each.environment)}</span>`,
      },
    ],
  });
}

function causeLink({ kind, cause }: JournalEntry): Html {
  const id = shortId(cause);
  return kind === "adjusted" ? html`<a href="/journal/adjustments/${cause}">${id}</a>` : id;
}
