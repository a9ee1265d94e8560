// Adyen's HTTP API: one address for test accounts, one per company for live ones. Maps each answer to one of the
// port's five.
import { createHash } from "node:crypto";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { understoodAnswer } from "../answer.ts";
import type { DeclineCode, ProcessorAccount, ProcessorAnswer } from "../connector.ts";
import { type HttpAnswer, ProcessorHttp, undecidedStatuses } from "../http.ts";

const testOrigin = "https://checkout-test.adyen.com";
const apiVersion = "v72";
const disputePath = "/ca/services/DisputeService/v30";

type Credentials = ProcessorAccount["credentials"];

export interface AdyenCall {
  readonly method: "GET" | "POST" | "PATCH";
  /** After the version, e.g. `/sessions`. */
  readonly path: string;
  readonly json?: unknown;
  /** Our idempotency key. */
  readonly key?: string;
}

export class AdyenClient {
  readonly #http: ProcessorHttp;
  readonly #origin: string;

  /** @param origin Adyen's test address; a fake's address also gets live calls */
  constructor(origin: string, timeoutMs: number) {
    this.#origin = origin;
    this.#http = new ProcessorHttp(origin, timeoutMs);
  }

  /** Adyen's clock by its last answer. */
  time(): Date | undefined {
    return this.#http.time();
  }

  async call(environment: Environment, credentials: Credentials, call: AdyenCall): Promise<HttpAnswer> {
    const isLive = environment === Environment.LIVE && this.#origin === testOrigin;
    const live = `https://${credentials.live_prefix ?? ""}-checkout-live.adyenpayments.com`;
    const key = call.key === undefined ? {} : { "idempotency-key": keyOf(call.path, call.key) };
    return await this.#http.call({
      method: call.method,
      ...(isLive && { origin: live }),
      path: `${isLive ? "/checkout" : ""}/${apiVersion}${call.path}`,
      headers: { "x-api-key": credentials.api_key ?? "", ...key },
      ...(call.json !== undefined && { json: call.json }),
    });
  }

  /** @param json names the account and the dispute */
  async callDisputes(account: ProcessorAccount, method: string, json: object): Promise<HttpAnswer> {
    const mode = account.environment === Environment.LIVE ? "live" : "test";
    return await this.#http.call({
      method: "POST",
      ...(this.#origin === testOrigin && { origin: `https://ca-${mode}.adyen.com` }),
      path: `${disputePath}/${method}`,
      headers: { "x-api-key": account.credentials.api_key ?? "" },
      json,
    });
  }

  async close(): Promise<void> {
    await this.#http.close();
  }
}

/** Adyen compares keys across all addresses of a company, and takes at most 64 characters. */
function keyOf(path: string, key: string): string {
  return createHash("sha256").update(`${path} ${key}`).digest("base64url");
}

/** The answer to a command. Under the key of an earlier call it is that call's answer. */
export function commandAnswer<T>(answer: HttpAnswer, value: (body: unknown) => T): ProcessorAnswer<T> {
  if (answer.kind === "unsent") return { kind: "not_sent", cause: answer.cause };
  if (answer.kind === "silent") return { kind: "unknown", cause: answer.cause };
  const { status, body } = answer;
  if (status >= 200 && status < 300) return understoodAnswer(body, value);
  const { code, message } = errorIn(body);
  const cause = new Error(`Adyen answered ${status} ${code}`);
  // Also the 5xx of a request that was refused: an edge may answer while its origin continues.
  if (status < 400 || status >= 500 || undecidedStatuses.has(status)) return { kind: "unknown", cause };
  if (code === "" || code === keyInUse) return { kind: "unknown", cause };
  // Our own credentials, before any work.
  if (status === 401 || status === 403) return { kind: "not_sent", cause };
  return { kind: "declined", code: declineCodes[code] ?? "refused", message: `Adyen: ${message} (${code})` };
}

/** The answer to a query. Adyen knows no object for certain that it cannot find. */
export function queryAnswer<T>(answer: HttpAnswer, value: (body: unknown) => T): ProcessorAnswer<T> {
  if (answer.kind !== "answered") return { kind: "unknown", cause: answer.cause };
  if (answer.status === 200) return understoodAnswer(answer.body, value);
  return { kind: "unknown", cause: new Error(`Adyen answered ${answer.status} ${errorIn(answer.body).code}`) };
}

/** The credential that an answer rejects; undefined: none. */
export function rejectedCredential(answer: HttpAnswer): { name: string; problem: string } | undefined {
  if (answer.kind !== "answered") return undefined;
  const { code } = errorIn(answer.body);
  if (answer.status === 401) return { name: "api_key", problem: "is rejected by Adyen" };
  if (answer.status !== 403 && answer.status !== 422) return undefined;
  if (code === merchantUnknown) return { name: "merchant_account", problem: "is not an account of this API key" };
  if (code === roleMissing) return { name: "api_key", problem: "lacks a role at Adyen: Checkout webservice" };
  return answer.status === 403 ? { name: "api_key", problem: `is rejected by Adyen (${code})` } : undefined;
}

// https://docs.adyen.com/development-resources/error-codes
const keyInUse = "704";
const merchantUnknown = "901";
const roleMissing = "010";
const declineCodes: Readonly<Record<string, DeclineCode>> = {
  "137": "amount_not_accepted",
  "138": "currency_not_accepted",
  "800": "unknown_payment_method",
  "803": "unknown_payment_method",
  "14_030": "return_url_missing",
};

function errorIn(body: unknown): { readonly code: string; readonly message: string } {
  const { errorCode, message } = membersOf(body);
  return { code: typeof errorCode === "string" ? errorCode : "", message: typeof message === "string" ? message : "" };
}
