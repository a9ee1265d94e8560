// Writes entries in the journal format of hledger (hledger.org), which `hledger check --strict` accepts.
import { currencyExponent } from "#platform/values/money.ts";
import type { LedgerEntry } from "#proto/payments/v1/ledger_pb.ts";
import { majorUnits } from "../../../services/public-json/csv.ts";
import { environmentName, timeText } from "../wire.ts";

const roots: Readonly<Record<string, string>> = {
  asset: "assets",
  liability: "liabilities",
  revenue: "revenues",
  expense: "expenses",
};
const types: Readonly<Record<string, string>> = { assets: "A", liabilities: "L", revenues: "R", expenses: "X" };

export class HledgerJournal {
  readonly #chart: ReadonlyMap<string, string>;
  /** Accounts and currencies that are declared already. */
  readonly #declared = new Set<string>();
  readonly head = `${Object.entries(types)
    .map(([root, type]) => `account ${root}  ; type: ${type}\n`)
    .join("")}decimal-mark .\n`;

  /** @param chart the type of each account by its code */
  constructor(chart: ReadonlyMap<string, string>) {
    this.#chart = chart;
  }

  /** The transaction of an entry, behind the declarations that it needs. */
  entry(entry: LedgerEntry): string {
    const { id, kind, cause, paymentId, amount, currency } = entry;
    const [debit, credit] = [this.#account(entry, entry.debit), this.#account(entry, entry.credit)];
    const about = [kind, cause, paymentId].filter((part) => part !== "").map(plain);
    return [
      this.#declare(`commodity ${currencySample(currency)}`),
      this.#declare(`account ${debit}`),
      this.#declare(`account ${credit}`),
      `\n${timeText(entry.bookedAt).slice(0, 10)} (${plain(id)}) ${about.join(" ")}\n`,
      `    ${debit}  ${majorUnits(amount, currency)} ${currency}\n`,
      `    ${credit}  ${majorUnits(-amount, currency)} ${currency}\n`,
    ].join("");
  }

  #account({ merchantId, environment }: LedgerEntry, code: string): string {
    const root = roots[this.#chart.get(code) ?? ""];
    if (root === undefined) throw new Error(`the chart has no account ${code}`);
    return `${root}:${merchantId}:${environmentName(environment)}:${code}`;
  }

  #declare(directive: string): string {
    if (this.#declared.has(directive)) return "";
    this.#declared.add(directive);
    return `\n${directive}\n`;
  }
}

/** Gives hledger the number of decimals. */
function currencySample(currency: string): string {
  const digits = currencyExponent(currency) ?? 2;
  return `1000.${"0".repeat(digits)} ${currency}`;
}

/** Without the characters that end a code or begin a comment. */
function plain(text: string): string {
  return text.replace(/[^\w.:-]/g, "_");
}
