// Calls operations by their name in the document and checks each answer against it. At the end of a file it lists the
// documented codes that no test has seen.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { type Answer, type Api, apiClient, type HeaderList, merchantApi } from "../harness/api.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { sharedStack } from "../harness/stack.ts";
import { fixture, suite } from "../harness/suite.ts";
import { type ApiDocument, apiDocument } from "./document.ts";

/** The parts of a request. */
export interface CallOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly headers?: HeaderList;
  /** A raw API key in place of the caller's; "" for none. */
  readonly as?: string;
}

/** A buyer's browser's request: the session and its own secret, without a key. @param secret replaces it */
export function asBuyer(session: Answer, secret = session.text("session_secret")): CallOptions {
  return { as: "", path: { id: session.text("id") }, query: { secret } };
}

/** The payment without its processor's fee, which the processor lists later. */
export function withoutFee({ body }: Answer): object {
  const { processor_fee: _fee, margin: _margin, ...payment } = membersOf(body);
  return payment;
}

/** A caller of one gateway. */
export interface Caller {
  readonly document: ApiDocument;
  /** The answer, which must have this status and be as described. */
  call(operation: string, status: number, sent?: CallOptions): Promise<Answer>;
  /** As call, for an error: status and code. */
  refused(operation: string, status: number, code: string, sent?: CallOptions): Promise<Answer>;
  /**
   * Asks each of the merchant's operations for a parameter that it does not have, and fails when one of these
   * operations has a code, or its success, that no call has got.
   * @param elsewhere `operation code` pairs that another file proves
   */
  sawEverything(elsewhere: readonly string[], ...operations: readonly string[]): Promise<void>;
}

// Proved for every operation at once, in http, auth, rate-limits, outage and idempotency.test.ts.
const provedForAll = new Set([
  ...["unauthorized", "forbidden", "payload_too_large", "unsupported_media_type"],
  ...["rate_limited", "internal_error", "service_unavailable", "idempotency_conflict"],
]);

/** A suite on the run's stack, with a fresh sandbox merchant and a caller with its key. */
export function contractSuite(name: string, limits?: Parameters<typeof suite>[1]) {
  const test = suite(name, limits);
  const running = fixture(test, sharedStack);
  const merchant = fixture(test, () => freshMerchant(running));
  const api = fixture(test, () => contractCaller(running, merchant.apiKey));
  return { test, running, merchant, api };
}

/** A caller with this API key. */
export async function contractCaller(stack: Pick<StackInfo, "gateway">, apiKey: string): Promise<Caller> {
  const document = await apiDocument(stack.gateway);
  const seen = new Set<string>();
  const call = async (id: string, status: number, sent: CallOptions = {}) => {
    const operation = document.operation(id);
    const key = sent.as ?? apiKey;
    const client = key === "" ? apiClient(stack.gateway) : merchantApi(stack.gateway, key);
    const answer = await send(client, operation.method, target(operation.path, sent), sent);
    assert.equal(answer.status, status, `${id}: ${answer}`);
    document.check(id, answer);
    seen.add(`${id} ${answer.status < 400 ? answer.status : answer.text("error.code")}`);
    return answer;
  };
  return {
    document,
    call,
    async refused(id, status, code, sent) {
      const answer = await call(id, status, sent);
      assert.equal(answer.text("error.code"), code);
      return answer;
    },
    async sawEverything(elsewhere, ...operations) {
      for (const { id, examplePath, scope } of operations.map(document.operation)) {
        if (scope === undefined) continue;
        const answer = await call(id, 400, { path: examplePath, query: { colour: "green" } });
        assert.equal(answer.text("error.code"), "invalid_body");
      }
      const unseen = operations.flatMap((id) => {
        const { codes, success } = document.operation(id);
        const wanted = [String(success), ...codes.filter((code) => !provedForAll.has(code))];
        return wanted.map((code) => `${id} ${code}`).filter((pair) => !seen.has(pair) && !elsewhere.includes(pair));
      });
      assert.deepEqual(unseen, []);
    },
  };
}

function target(path: string, { path: values = {}, query = {} }: CallOptions): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? ""));
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  const search = new URLSearchParams(pairs).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

function send(client: Api, method: string, path: string, { body, headers = {} }: CallOptions): Promise<Answer> {
  switch (method) {
    case "GET":
      return client.get(path, headers);
    case "POST":
      return client.post(path, body, headers);
    case "PUT":
      return client.put(path, body, headers);
    case "PATCH":
      return client.patch(path, body, headers);
    case "DELETE":
      return client.delete(path, headers);
    default:
      throw new Error(`no operation uses ${method}`);
  }
}
