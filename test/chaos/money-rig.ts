// A stack with a merchant's receiver and read access to every database, for walks, crash and chaos runs. Only the
// comparison reads databases; drivers use the public API and the processor's.
import { rm } from "node:fs/promises";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { stackSecrets } from "../../deploy/local/state/secrets.ts";
import { type Api, apiClient, merchantApi } from "../harness/api.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { startTestStack, type TestStackOptions } from "../harness/stack.ts";
import { tempDir } from "../harness/temp-dir.ts";
import type { StripeShop } from "./shop.ts";

export interface MoneyRig {
  readonly running: RunningStack;
  readonly merchantId: string;
  /** The public API with the merchant's key, and without one, as the buyer's browser calls it. */
  readonly merchant: Api;
  readonly buyer: Api;
  /** The merchant's account at the simulator. */
  readonly account: string;
  /** The processor's API and test controls, as that account. */
  readonly processor: Api;
  /** Of the simulator, to act there as another account. */
  readonly simulatorSecretKey: string;
  /** The merchant's accounts at the simulator; absent: every account there is this merchant's. */
  readonly simulatorAccounts?: readonly string[];
  /** The merchant's account at the stand-in of Stripe's API. */
  readonly stripe?: Pick<StripeShop, "account" | "untold">;
  readonly receiver: Receiver;
  /** Of the receiver's endpoint. */
  readonly signingSecret: string;
  readonly books: { readonly payments: Database; readonly checkout: Database; readonly simulator: Database };
  stop(): Promise<void>;
}

/** Waits of the services shrunk, so that a run is over soon after its last operation. Seconds but for the delay. */
const hurried = {
  IDEMPOTENCY_LEASE_SECONDS: "3",
  RECONCILE_AFTER_SECONDS: "2",
  PROCESSOR_TIMEOUT_SECONDS: "1",
  CIRCUIT_OPEN_MAX_SECONDS: "1",
  EVENT_ACK_WAIT_SECONDS: "2",
  SIMULATOR_DELAY_MS: "200",
  // A day, as the processors' keys live: only a run that draws their end has a shorter one.
  SIMULATOR_KEY_SECONDS: "86400",
  // So near its end that each opening of a link asks whether the page still lives.
  SIMULATOR_PAGE_SECONDS: "240",
  ABSENCE_AFTER_SECONDS: "8",
  EVENT_POLL_SECONDS: "2",
};

/** Event types that the rig's endpoint receives. */
export const deliveredTypes: ReadonlySet<string> = new Set([
  "payment.succeeded",
  "payment.failed",
  "payment.processing",
  "payment.refunded",
  "payment.disputed",
  "dispute.created",
  "dispute.updated",
  "dispute.won",
  "dispute.lost",
  "dispute.closed",
  "authorization.captured",
  "authorization.canceled",
  "authorization.expired",
  "refund.succeeded",
  "refund.failed",
  "checkout_session.completed",
  "checkout_session.expired",
  "checkout_session.canceled",
]);

/** Options of the stack, whose environment is laid over the shortened intervals, and the processor's place. */
export interface MoneyRigOptions extends TestStackOptions {
  /** Of the processor's database, which is there already; absent: on the services' server. */
  processorDatabase?: string;
}

/** Starts it all. */
export async function startMoneyRig({ processorDatabase, ...options }: MoneyRigOptions = {}): Promise<MoneyRig> {
  const stateDir = options.stateDir ?? (await tempDir("money"));
  const running = await startTestStack({
    ...(processorDatabase && { envOf: (name) => (name === "simulator" ? { DATABASE_URL: processorDatabase } : {}) }),
    ...options,
    stateDir,
    env: { ...hurried, ...options.env },
  });
  const { stack } = running;
  const { simulatorSecretKey } = await stackSecrets(stateDir);
  const receiver = await startReceiver(stack.tls);
  const merchant = merchantApi(stack.gateway, stack.api_key);
  const connectors = (await merchant.get("/v1/merchants/me/connectors")).expect(200);
  const account = connectors.text("data.0.external_account_id");
  const endpoint = { url: `${receiver.url}/hook`, event_types: [...deliveredTypes] };
  const registered = (await merchant.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const urlOf = (owner: string) => databaseUrlOf(stack.database, owner);
  const log = createLog("books", "silent");
  const urls = [urlOf("payments"), urlOf("checkout"), processorDatabase ?? urlOf("simulator")];
  const [payments, checkout, simulator] = await Promise.all(
    urls.map((url) => Database.open({ url, name: "books", log, connectionsMax: 4 })),
  );
  if (!payments || !checkout || !simulator) throw new Error("a database is missing");
  return {
    running,
    merchantId: stack.merchant_id,
    merchant,
    buyer: apiClient(stack.gateway),
    account,
    processor: processorApi(running, simulatorSecretKey, account),
    simulatorSecretKey,
    receiver,
    signingSecret: registered.text("signing_secret"),
    books: { payments, checkout, simulator },
    async stop() {
      await Promise.all([payments.close(), checkout.close(), simulator.close()]);
      await receiver.close();
      await running.stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

/** The processor's API as one of its accounts, by the stack's own secret: the services keep theirs to themselves. */
export function processorApi({ stack }: RunningStack, secretKey: string, account: string): Api {
  return apiClient(stack.processor, { authorization: `Bearer ${secretKey}`, "processor-account": account });
}
