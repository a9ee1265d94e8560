// Actions of operators and the outside world on a test's merchant: suspend it, disable its refunds, block a buyer's
// address, make its processor account fail.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import pg from "pg";
import { connectPeer } from "#platform/rpc/client.ts";
import { idSuffix, newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { RiskKind, RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { ApplicationService, Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { type Api, apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import type { TestMerchant } from "../harness/merchant.ts";

/** Changes a merchant's state. */
export async function setMerchant(
  stack: StackInfo,
  merchantId: string,
  state: { status?: string; refundsEnabled?: boolean },
): Promise<void> {
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  try {
    await peer.client(MerchantService).updateMerchantState({ merchantId, ...state });
  } finally {
    peer.close();
  }
}

/** Puts an address on the merchant's block list of risk screening. */
export async function blockAddress(stack: StackInfo, merchantId: string, address: string): Promise<void> {
  const peer = connectPeer({ url: stack.rpc.checkout, token: stack.rpc_token });
  try {
    const rule = { merchantId, kind: RiskKind.BLOCK_LIST, subject: "address", entries: [address], operator: "test" };
    await peer.client(RiskService).createRule(rule);
  } finally {
    peer.close();
  }
}

/** Approves a submitted application. @returns its merchant's id */
export async function approveApplication(stack: StackInfo, applicationId: string): Promise<string> {
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  try {
    const { application } = await peer.client(ApplicationService).approveApplication({ applicationId });
    return application?.merchantId ?? "";
  } finally {
    peer.close();
  }
}

/** A switch of the card-processor simulator. */
export interface Fault {
  readonly target:
    | (
        | "api.intents.create"
        | "api.intents.capture"
        | "api.intents.get"
        | "api.intents.cancel"
        | "api.refunds.create"
        | "api.*"
      )
    | ("api.disputes.get" | "api.disputes.evidence" | "api.disputes.accept" | "api.files.create");
  readonly kind: "error_before" | "error_after" | "delay";
  readonly ms?: number;
  /** How often it fires. */
  readonly count?: number;
}

/**
 * Pays out an amount that the simulator releases to the merchant, minor units of EUR. Before the first capture: the
 * account's lists are read once a minute, and at first right after that capture.
 */
export async function payOut(stack: StackInfo, merchant: TestMerchant, amount: number): Promise<void> {
  const account = await accountOf(merchant);
  const simulator = await processorApi(stack, account);
  (await simulator.post("/test/movements", { account, type: "release", amount, currency: "EUR" })).expect(201);
  const id = (await simulator.post("/test/payouts", { account })).expect(201).text("data.0.id");
  await eventually("the payout to be paid", async () => {
    const { status } = await simulator.post(`/test/payouts/${id}`, { status: "paid" });
    return status === 200 || status === 400;
  });
}

/** Makes the merchant's account at the processor fail; other tests on the stack notice nothing. */
export async function failProcessor(stack: StackInfo, merchant: TestMerchant, fault: Fault): Promise<void> {
  const account = await accountOf(merchant);
  const answer = await (await processorApi(stack, account)).put("/test/faults", { ...fault, account });
  if (answer.status >= 300) throw new Error(`the simulator refused the switch: ${answer}`);
}

/** Whether a switch on the merchant's account has fired. */
export async function hasFailed(stack: StackInfo, merchant: TestMerchant): Promise<boolean> {
  return (await firedOf(stack, merchant)).some((fired) => fired > 0);
}

/** Whether every switch on the merchant's account has fired. */
export async function allHaveFailed(stack: StackInfo, merchant: TestMerchant): Promise<boolean> {
  return (await firedOf(stack, merchant)).every((fired) => fired > 0);
}

/** How often each switch on the merchant's account has fired. */
async function firedOf(stack: StackInfo, merchant: TestMerchant): Promise<number[]> {
  const account = await accountOf(merchant);
  const faults = (await (await processorApi(stack, account)).get("/test/faults")).expect(200).list("data").map(Object);
  return faults.filter((fault) => fault.account === account).map((fault) => Number(fault.fired));
}

/** How often the processor did the work of a payment or refund of ours, by its id. */
export async function timesDone(stack: StackInfo, merchant: TestMerchant, reference: string): Promise<number> {
  const processor = await processorApi(stack, await accountOf(merchant));
  return (await processor.get(`/test/operations?reference=${reference}`)).expect(200).list("data").length;
}

/** Payments' own database, and how the sessions that everybody has there are ended. */
export function paymentsDatabase({ database }: StackInfo): { url: string; endSessions: () => Promise<void> } {
  const url = `${database}_payments`;
  const others = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  return { url, endSessions: () => inDatabase(url, others, []) };
}

/** The merchant's account at the processor. */
export async function accountOf(merchant: TestMerchant): Promise<string> {
  return (await merchant.api.get("/v1/merchants/me/connectors")).expect(200).text("data.0.external_account_id");
}

async function processorApi(stack: StackInfo, account: string): Promise<Api> {
  return apiClient(stack.processor, {
    authorization: `Bearer ${await processorKey(stack)}`,
    "processor-account": account,
  });
}

async function processorKey(stack: StackInfo): Promise<string> {
  return String((await secretsOf(stack)).simulatorSecretKey);
}

/** The stack keeps its secrets next to its certificates. */
async function secretsOf(stack: StackInfo) {
  const file = join(dirname(dirname(stack.tls.ca)), "secrets.json");
  return membersOf(JSON.parse(await readFile(file, "utf8")));
}

/** Adds another account of the simulator, which is not the primary one. @returns its id */
export async function addAccount(stack: StackInfo, { id: merchantId }: Pick<TestMerchant, "id">): Promise<string> {
  const { simulatorSecretKey, simulatorWebhookSecret } = await secretsOf(stack);
  const credentials = {
    account: `acct_${idSuffix(newId("connector"))}`,
    secret_key: String(simulatorSecretKey),
    webhook_secret: String(simulatorWebhookSecret),
  };
  const peer = connectPeer({ url: stack.rpc.payments, token: stack.rpc_token });
  try {
    const added = { merchantId, environment: Environment.SANDBOX, connector: "simulator", credentials };
    return (await peer.client(ConnectorAccountService).addConnectorAccount(added)).connector?.id ?? "";
  } finally {
    peer.close();
  }
}

/**
 * Changes a connector as the operator's data set-up would: no operation switches it off. @param change SQL after SET
 */
export async function changeConnector(stack: StackInfo, connectorId: string, change: string): Promise<void> {
  await inDatabase(`${stack.database}_merchant`, `update connectors set ${change} where id = $1`, [connectorId]);
}

/** Stores declined payments, which no money hangs on: more than a test has time to make. */
export async function storeDeclined(stack: StackInfo, merchantId: string, count: number): Promise<void> {
  await inDatabase(
    `${stack.database}_payments`,
    `insert into payments (id, merchant_id, environment, amount, currency, connector, connector_account_id, surface, outcome,
       visible, failed_at, expires_at)
     select 'pay_0' || lpad(to_hex(i), 12, '0') || left(md5($1 || i), 13), $1, 1, 100, 'EUR', 'simulator', 'mco_rows',
       'embedded', 'failed', true, now(), now() + interval '1 day' from generate_series(1, $2::int) i`,
    [merchantId, count],
  );
}

async function inDatabase(url: string, statement: string, params: readonly unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement, [...params]);
  } finally {
    await client.end();
  }
}
