// Generated parts of the guides: tables of test cards, retries and limits, and samples. They are between `<!-- from …
// -->` and `<!-- end -->`; test/documents.test.ts checks that they are current. Usage: npm run generate -- tables
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { gatewaySettings } from "../../gateway/settings.ts";
import { bundleSizes } from "../../gateway/web/bundle-sizes.ts";
import { simulatorFailureNames } from "../../services/payments/connectors/simulator/answers.ts";
import { simulatorMethods } from "../../services/payments/connectors/simulator/methods.ts";
import { stripeMethods } from "../../services/payments/connectors/stripe/methods.ts";
import { reportColumns } from "../../services/payments/lists/reports/columns.ts";
import { failureCodeOf } from "../../services/payments/rules/failure-code.ts";
import { type ReportType, reportTypes } from "../../services/public-json/report.ts";
import { testCards } from "../../services/simulator/rules/test-card.ts";
import { pauseMs } from "../../services/webhook/rules/schedule.ts";
import { webhookSettings } from "../../services/webhook/settings.ts";
import { groupDigits } from "./docs/reference/test-cards.ts";

const root = join(import.meta.dirname, "../..");
const marked = /(<!-- from ([^\n]+?) -->\n)[\s\S]*?(<!-- end -->)/g;

/** Every guide with generated parts, by its path, with current content. */
export function filledGuides(): Map<string, string> {
  const filled = new Map<string, string>();
  for (const path of globSync(["README.md", "docs/*.md"], { cwd: root }).sort()) {
    const text = readFileSync(join(root, path), "utf8");
    if (!text.includes("<!-- from ")) continue;
    filled.set(
      path,
      text.replace(marked, (_, begin: string, name: string, end: string) => `${begin}${blockOf(name)}\n${end}`),
    );
  }
  return filled;
}

function blockOf(name: string): string {
  const tables: Readonly<Record<string, () => string>> = {
    "test cards": cardTable,
    methods: methodTable,
    retries: retryTable,
    limits: limitTable,
    sizes: sizeTable,
    ...Object.fromEntries(reportTypes.map((type) => [`columns of ${type}`, () => columnTable(type)])),
  };
  const table = tables[name];
  if (table) return table();
  const text = readFileSync(join(root, name), "utf8").trimEnd();
  const ending = name.split(".").at(-1) ?? "";
  const languages: Readonly<Record<string, string>> = {
    mjs: "js",
    py: "python",
    php: "php",
    go: "go",
    rb: "ruby",
    jsx: "jsx",
    vue: "vue",
    svelte: "svelte",
  };
  return `\`\`\`${languages[ending] ?? ""}\n${text}\n\`\`\``;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** Methods of Stripe, with a mark for those that the simulator plays. */
function methodTable(): string {
  const played = new Set(simulatorMethods.map(({ type }) => type));
  const yes = (is: boolean) => (is ? "yes" : "");
  const rows = stripeMethods.map(({ type, currencies, refund, delayed, disputes, manualCapture }) => [
    `\`${type}\``,
    currencies.join(" ") || "all",
    refund,
    ...[delayed, disputes, manualCapture, played.has(type)].map(yes),
  ]);
  return tableOf(["type", "currencies", "refund", "delayed", "disputes", "manual capture", "simulator"], rows);
}

/** The columns of a report; those with decimals are named with their integers. */
function columnTable(type: ReportType): string {
  const isNew = ({ name }: { name: string }) => type !== "payout_reconciliation" || /^(payout|arrival)_/.test(name);
  const rows = reportColumns[type].filter((column) => column.unit !== "major units" && isNew(column));
  const lines = rows.map(({ name, meaning, unit }) => `|\`${name}\`|${meaning}|${unit}|`);
  return ["|Column|Meaning|Unit|", "|---|---|---|", ...lines].join("\n");
}

function cardTable(): string {
  const rows = testCards.map((card) => {
    const { outcome } = card;
    const code = outcome.kind === "declined" ? `\`${failureCodeOf(simulatorFailureNames, outcome.code)}\`` : "";
    return [`\`${groupDigits(card)}\``, card.label, code];
  });
  return tableOf(["Number", "What happens", "`failure.code`"], rows);
}

function sizeTable(): string {
  const rows = bundleSizes.map(({ what, bytesMax }) => [what, `${(bytesMax / 1000).toFixed(1)} kB`]);
  return tableOf(["Gzipped", "At most, by a test"], rows);
}

function retryTable(): string {
  const schedule = {
    baseMs: settingOf(webhookSettings, "WEBHOOK_RETRY_BASE_MS"),
    capMs: settingOf(webhookSettings, "WEBHOOK_RETRY_CAP_MS"),
    attemptsMax: settingOf(webhookSettings, "WEBHOOK_ATTEMPTS_MAX"),
  };
  const minute = 60_000;
  const rows: string[][] = [["1", "", "within a second (below)"]];
  let since = 0;
  for (let tries = 1; tries < schedule.attemptsMax; tries++) {
    const pause = pauseMs(schedule, tries, 0.5); // 0.5: without jitter
    since += pause;
    const isLast = tries + 1 === schedule.attemptsMax;
    if (pause < schedule.capMs || isLast || rows.length < 9) {
      rows.push([String(tries + 1), inWords(pause / minute), inWords(since / minute)]);
    } else if (rows.at(-1)?.[0] !== "…") rows.push(["…", "hourly", ""]);
  }
  return tableOf(["Attempt", "Pause before it", "Since the first"], rows);
}

function inWords(minutes: number): string {
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

/** Default of a setting. */
function settingOf(settings: object, name: string): number {
  const { fallback } = membersOf(membersOf(settings)[name]);
  if (typeof fallback !== "number") throw new Error(`${name} has no numeric default`);
  return fallback;
}

/** Subject, setting and unit of each limit. */
const limits: readonly (readonly [what: string, setting: keyof typeof gatewaySettings, unit: string])[] = [
  ["a live API key", "RATE_LIMIT_LIVE_PER_SECOND", "a second"],
  ["a sandbox API key", "RATE_LIMIT_SANDBOX_PER_SECOND", "a second"],
  ["all keys of a merchant in an environment", "RATE_LIMIT_KEYS_PER_MERCHANT", "times one key's"],
  ["reading a session in the browser", "RATE_LIMIT_RESOLVE_PER_MINUTE", "a minute"],
  ["confirming a session", "RATE_LIMIT_CONFIRM_PER_MINUTE", "a minute"],
  ["confirming from an address", "RATE_LIMIT_CONFIRM_ADDRESS_PER_MINUTE", "a minute"],
  ["new applications from an address", "RATE_LIMIT_ONBOARDING_PER_HOUR", "an hour"],
  ["reading, changing and submitting applications from an address", "RATE_LIMIT_APPLICANT_PER_HOUR", "an hour"],
  ["unknown API keys from an address", "RATE_LIMIT_REFUSED_KEYS_PER_MINUTE", "a minute"],
  ["wrong session secrets from an address", "RATE_LIMIT_REFUSED_SECRETS_PER_MINUTE", "a minute"],
  ["unknown pages from an address", "RATE_LIMIT_REFUSED_PAGES_PER_MINUTE", "a minute"],
  ["refused processor events from an address", "RATE_LIMIT_REFUSED_EVENTS_PER_MINUTE", "a minute"],
];

function limitTable(): string {
  const rows = limits.map(([what, setting, unit]) => {
    return [what, `${settingOf(gatewaySettings, setting)} ${unit}`, `\`${setting}\``];
  });
  return tableOf(["Of", "At most", "Setting"], rows);
}

if (import.meta.main) for (const [path, text] of filledGuides()) writeFileSync(join(root, path), text);
