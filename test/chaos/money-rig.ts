// A whole stack with a merchant's receiver beside it, and a look into every book of it: what walks, crashes and chaos runs drive and
// compare. Only what compares looks into databases; what drives knows the public API and the processor's.
import { Database } from "#platform/database.ts";
import { createLog } from "#platform/log.ts";
import { connectPeer } from "#platform/rpc-client.ts";
import { ConnectorService, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { withDatabase } from "../../deploy/local/databases.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { type Api, api, merchantApi } from "../harness/api.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { startTestStack, type TestStackOptions } from "../harness/stack.ts";

export interface MoneyRig {
  readonly running: RunningStack;
  readonly merchantId: string;
  /** The public API with the merchant's key, and without one, as the buyer's browser calls it. */
  readonly merchant: Api;
  readonly buyer: Api;
  /** The processor's API and test controls, as the merchant's account. */
  readonly processor: Api;
  readonly receiver: Receiver;
  readonly books: { readonly payments: Database; readonly checkout: Database; readonly simulator: Database };
  stop(): Promise<void>;
}

/** Waits of the services shrunk, so that a run is over soon after its last operation. Seconds but for the delay. */
const hurried = {
  IDEMPOTENCY_LEASE_SECONDS: "3",
  RECONCILE_AFTER_SECONDS: "2",
  PROCESSOR_TIMEOUT_SECONDS: "1",
  SIMULATOR_DELAY_MS: "200",
};

const deliveredTypes = ["payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed"];

/** Starts it all. @param options of the stack; its environment is laid over the hurried one. */
export async function startMoneyRig(options: TestStackOptions = {}): Promise<MoneyRig> {
  const running = await startTestStack({ ...options, env: { ...hurried, ...options.env } });
  const { stack } = running;
  const receiver = await startReceiver(stack.tls);
  const merchant = merchantApi(stack.gateway, stack.api_key);
  const endpoint = { url: `${receiver.url}/hook`, event_types: deliveredTypes };
  (await merchant.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const databaseOf = (owner: string) => {
    const name = `${decodeURIComponent(new URL(stack.database).pathname.slice(1))}_${owner}`;
    const log = createLog("books", "silent");
    return Database.open({ url: withDatabase(stack.database, name), name: "books", log, connectionsMax: 4 });
  };
  const [payments, checkout, simulator] = await Promise.all(["payments", "checkout", "simulator"].map(databaseOf));
  if (!payments || !checkout || !simulator) throw new Error("a database is missing");
  return {
    running,
    merchantId: stack.merchant_id,
    merchant,
    buyer: api(stack.gateway),
    processor: await processorApi(running),
    receiver,
    books: { payments, checkout, simulator },
    async stop() {
      await Promise.all([payments.close(), checkout.close(), simulator.close()]);
      await receiver.close();
      await running.stop();
    },
  };
}

async function processorApi({ stack }: RunningStack): Promise<Api> {
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  try {
    const asked = { merchantId: stack.merchant_id, environment: Environment.SANDBOX };
    const { account } = await peer.client(ConnectorService).getActiveConnectorAccount(asked);
    return api(stack.processor, {
      authorization: `Bearer ${account?.credentials.secret_key}`,
      "processor-account": account?.connector?.externalAccountId ?? "",
    });
  } finally {
    peer.close();
  }
}
