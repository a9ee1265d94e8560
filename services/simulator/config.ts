// Reads the settings from the environment. All problems are reported together, without values, since some are secret.
// NAME_FILE is the path of a file that contains the value of NAME.
import { readFileSync } from "node:fs";

export interface SimulatorOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly host?: string;
  readonly databaseUrl: string;
  /** Our public origin. Absent: the listening address. */
  readonly publicUrl?: string;
  /** The callers' API key. */
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** URL of webhooks; `{account}` is replaced by the account's name. */
  readonly webhookUrl: string;
  readonly logLevel?: string;
  /** Delay of delayed facts, milliseconds. */
  readonly delayMs?: number;
  /** How long an authorization can be captured. */
  readonly authorizationSeconds?: number;
  /** How long idempotency keys are kept. */
  readonly keySeconds?: number;
  /** Lifetime of a new intent's page; 0: unlimited. */
  readonly pageSeconds?: number;
  /** Until a capture can be paid out. */
  readonly settlementSeconds?: number;
  /** Between two payouts of an account and currency. */
  readonly payoutSeconds?: number;
  /** The form requires the cardholder's name. */
  readonly requiresName?: boolean;
  /** /test/… exists. */
  readonly testControls?: boolean;
}

type Check = (text: string) => string | undefined;

const secretLengthMin = 16; // shorter secrets can be guessed
const delayMsMax = 3_600_000; // an hour; more is a typing error
const authorizationSecondsMax = 2_592_000; // 30 days, the longest of any card network
const keySecondsMax = 2_592_000; // 30 days, the longest of any processor

/** @throws Error with a line for each problem */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Required<SimulatorOptions> {
  const problems: string[] = [];
  const read = (name: string, check: Check, fallback?: string): string => {
    const text = env[name] || textOf(env[`${name}_FILE`]) || fallback;
    if (text === undefined) problems.push(`${name} is missing`);
    const problem = text === undefined ? undefined : check(text);
    if (problem) problems.push(`${name} ${problem}`);
    return text ?? "";
  };
  const isProduction = env.NODE_ENV === "production";
  const config = {
    port: Number(read("PORT", wholeNumber(0, 65_535))),
    host: read("HOST", () => undefined, "127.0.0.1"),
    databaseUrl: read("DATABASE_URL", url("postgres:", "postgresql:")),
    publicUrl: read("PUBLIC_URL", origin).replace(/\/$/, ""),
    secretKey: read("SIMULATOR_SECRET_KEY", secret),
    webhookSecret: read("SIMULATOR_WEBHOOK_SECRET", secret),
    webhookUrl: read("SIMULATOR_WEBHOOK_URL", webhookUrl),
    logLevel: read("LOG_LEVEL", oneOf("debug", "info", "warn", "error"), "info"),
    delayMs: Number(read("SIMULATOR_DELAY_MS", wholeNumber(0, delayMsMax), "1000")),
    authorizationSeconds: Number(
      read("SIMULATOR_AUTHORIZATION_SECONDS", wholeNumber(1, authorizationSecondsMax), "604800"),
    ),
    keySeconds: Number(read("SIMULATOR_KEY_SECONDS", wholeNumber(1, keySecondsMax), "86400")),
    pageSeconds: Number(read("SIMULATOR_PAGE_SECONDS", wholeNumber(0, keySecondsMax), "0")),
    settlementSeconds: Number(read("SIMULATOR_SETTLEMENT_SECONDS", wholeNumber(0, keySecondsMax), "172800")),
    payoutSeconds: Number(read("SIMULATOR_PAYOUT_SECONDS", wholeNumber(1, keySecondsMax), "86400")),
    requiresName: read("SIMULATOR_CARDHOLDER_NAME", oneOf("on", "off"), "off") === "on",
    testControls: read("SIMULATOR_TEST_CONTROLS", oneOf("on", "off"), isProduction ? "off" : "on") === "on",
  };
  if (isProduction && config.testControls) problems.push("SIMULATOR_TEST_CONTROLS must not be on in production");
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return config;
}

function textOf(path: string | undefined): string | undefined {
  return path ? readFileSync(path, "utf8").trim() : undefined;
}

function wholeNumber(min: number, max: number): Check {
  return (text) =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}`;
}

function oneOf(...words: readonly string[]): Check {
  return (text) => (words.includes(text) ? undefined : `must be one of ${words.join(", ")}`);
}

function url(...schemes: readonly string[]): Check {
  return (text) =>
    URL.canParse(text) && schemes.includes(new URL(text).protocol)
      ? undefined
      : `must be a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`;
}

function origin(text: string): string | undefined {
  return (
    url("http:", "https:")(text) ??
    (new URL(text).origin === text.replace(/\/$/, "") ? undefined : "must be an origin, without a path")
  );
}

function webhookUrl(text: string): string | undefined {
  if (!text.includes("{account}")) return "must contain {account}, the placeholder of the account's name";
  return url("http:", "https:")(text.replaceAll("{account}", "acct_x"));
}

function secret(text: string): string | undefined {
  return text.length >= secretLengthMin ? undefined : `must have at least ${secretLengthMin} characters`;
}
