// A money rig with everything that moves money: several merchants in both environments, the simulator and the fake of
// Stripe's API with its webhooks, failover between two accounts, operators, and clocks that can be stepped.
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { RiskKind, RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import { ownProcessNames } from "../../deploy/local/services.ts";
import type { StackShape } from "../../deploy/local/settings.ts";
import { type FalseClocks, falseClocks } from "../harness/false-clock.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { startReceiver } from "../harness/receiver.ts";
import { processOf, shapeOfRun } from "../harness/stack.ts";
import { FakeStripe } from "../harness/stripe/fake-stripe.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { deliveredTypes, type MoneyRig, processorApi } from "./money-rig.ts";
import { Seen } from "./seen.ts";
import { keyedApi, type Shop, type StripeShop } from "./shop.ts";

export interface Operators {
  readonly checkout: Peer;
  readonly payments: Peer;
  readonly merchant: Peer;
}

export interface WideRig extends MoneyRig {
  readonly shops: readonly Shop[];
  readonly fake: FakeStripe;
  readonly operators: Operators;
  /** Of our processes; the outside company's clock is its own. */
  readonly clocks: FalseClocks;
  readonly shape: StackShape;
}

/** Options that a stack needs to be widened. */
export interface Outside {
  readonly fake: FakeStripe;
  readonly clocks: FalseClocks;
  readonly shape: StackShape;
  readonly env: Readonly<Record<string, string>>;
}

/** Uses the shape of TOLLBOOTH_SHAPE. */
export async function startOutside(): Promise<Outside> {
  const fake = await new FakeStripe().start();
  const shape = shapeOfRun();
  const clocks = falseClocks(await tempDir("clocks"), [
    ...new Set(ownProcessNames.map((name) => processOf(shape, name))),
  ]);
  return { fake, clocks, shape, env: { STRIPE_API_URL: fake.url } };
}

/** The merchants beyond the stack's own, each for its own purpose. */
const others = [
  // The simulator, and Stripe when that one is down or declines.
  { name: "olive", environment: Environment.SANDBOX, stripe: "second" },
  { name: "plum", environment: Environment.SANDBOX, stripe: "first" },
  { name: "pine", environment: Environment.LIVE, stripe: "first" },
] as const;

/** @param rig started with what `outside` asks for. @param front the gateway as clients reach it */
export async function widenRig(
  rig: MoneyRig,
  { fake, clocks, shape }: Outside,
  front = rig.running.stack.gateway,
): Promise<WideRig> {
  const { rpc, rpc_token: token } = rig.running.stack;
  const operators: Operators = {
    checkout: connectPeer({ url: rpc.checkout, token }),
    payments: connectPeer({ url: rpc.payments, token }),
    merchant: connectPeer({ url: rpc.merchant, token }),
  };
  const wide = { ...rig, fake, operators, clocks, shape };
  const shops = [await firstShop(rig, front)];
  for (const other of others) shops.push(await otherShop(wide, front, other));
  return {
    ...wide,
    shops,
    async stop() {
      for (const peer of Object.values(operators)) peer.close();
      await Promise.all(shops.slice(1).map((shop) => shop.receiver.close()));
      await rig.stop();
      await fake.stop();
    },
  };
}

/** The rig as one merchant's books are compared. */
export function viewOf(rig: WideRig, shop: Shop): MoneyRig {
  return {
    ...rig,
    merchantId: shop.merchantId,
    merchant: shop.api,
    receiver: shop.receiver,
    signingSecret: shop.signingSecret,
    simulatorAccounts: shop.simulator ? [shop.simulator.account] : [],
    ...(shop.simulator && { processor: shop.simulator.api }),
    ...(shop.stripe && { stripe: shop.stripe }),
  };
}

/** The stack's own merchant, with the simulator alone. */
async function firstShop(rig: MoneyRig, front: string): Promise<Shop> {
  const key = { secret: rig.running.stack.api_key };
  const api = keyedApi(front, key);
  const { receiver, signingSecret, merchantId } = rig;
  const named = { name: "lemon", merchantId, environment: Environment.SANDBOX };
  const simulator = await simulatorOf(rig, api);
  return { ...named, key, api, receiver, signingSecret, simulator, seen: new Seen(), refusals: new Set() };
}

async function otherShop(
  rig: MoneyRig & Pick<WideRig, "fake" | "operators">,
  front: string,
  { name, environment, stripe: stripeOrder }: (typeof others)[number],
): Promise<Shop> {
  const { stack } = rig.running;
  const { id: merchantId, apiKey } = await freshMerchant(stack, { environment });
  const key = { secret: apiKey };
  const api = keyedApi(front, key);
  const receiver = await startReceiver(stack.tls);
  const endpoint = { url: `${receiver.url}/hook`, event_types: [...deliveredTypes] };
  const registered = (await keyedApi(stack.gateway, key).post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const hasSimulator = environment === Environment.SANDBOX && stripeOrder === "second";
  const simulator = hasSimulator ? await simulatorOf(rig, keyedApi(stack.gateway, key)) : undefined;
  const stripe = await stripeOf(rig, merchantId, environment, name, stripeOrder === "first");
  await offerMethods(keyedApi(stack.gateway, key), stripe.connectorId);
  if (stripeOrder === "second") {
    const on_decline = { codes: ["card_declined", "processing_error"], next: true };
    (
      await keyedApi(stack.gateway, key).put("/v1/merchants/me/routing", {
        rules: [],
        on_outage: "next",
        on_decline,
        version: 0,
      })
    ).expect(200);
  }
  if (environment === Environment.LIVE) await allowOneCard(rig.operators, merchantId);
  const signingSecret = registered.text("signing_secret");
  const shop = { name, merchantId, environment, key, api, receiver, signingSecret, stripe };
  return { ...shop, ...(simulator && { simulator }), seen: new Seen(), refusals: new Set() };
}

async function simulatorOf({ running, simulatorSecretKey }: MoneyRig, merchant: Shop["api"]) {
  const connectors = (await merchant.get("/v1/merchants/me/connectors")).expect(200);
  const account = connectors.text("data.0.external_account_id");
  const api = processorApi(running, simulatorSecretKey, account);
  const connectorId = connectors.text("data.0.id");
  await offerMethods(merchant, connectorId);
  return { account, connectorId, api };
}

/** Sessions in euros then offer every method that the run plays. */
async function offerMethods(merchant: Shop["api"], connectorId: string): Promise<void> {
  const body = { payment_methods: ["card", "ideal", "sepa_debit"] };
  (await merchant.patch(`/v1/merchants/me/connectors/${connectorId}`, body)).expect(200);
}

async function stripeOf(
  rig: Pick<WideRig, "fake" | "operators">,
  merchantId: string,
  environment: Environment,
  name: string,
  makeDefault: boolean,
): Promise<StripeShop> {
  const mode = environment === Environment.LIVE ? "live" : "test";
  const secretKey = `sk_${mode}_${name}`;
  const account = rig.fake.account(`acct_1${name[0]?.toUpperCase()}${name.slice(1)}`, secretKey);
  const webhookSecret = `whsec_${name}1`;
  const credentials = { secret_key: secretKey, publishable_key: `pk_${mode}_${name}`, webhook_secret: webhookSecret };
  const added = { merchantId, environment, connector: "stripe", credentials, makeDefault };
  const { connector } = await rig.operators.payments.client(ConnectorAccountService).addConnectorAccount(added);
  return { account, connectorId: connector?.id ?? "", webhookSecret, untold: new Map() };
}

/** All buyers of the fake have one card, which live rules would block soon. */
async function allowOneCard({ checkout }: Operators, merchantId: string): Promise<void> {
  const rule = { kind: RiskKind.VELOCITY, subject: "card_fingerprint", limit: 20n, windowSeconds: 3_600 };
  const where = { merchantId, environment: Environment.LIVE, disabled: true, operator: "walk", note: "" };
  await checkout.client(RiskService).createRule({ ...rule, ...where });
}
