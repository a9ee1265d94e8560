// Operators' changes during payments: a driver for each operator row of the fault table. Each change is reverted after
// a while; a request rejected meanwhile stays rejected, since rejections are stored.
import { setTimeout as pause } from "node:timers/promises";
import { RiskKind, RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { ApiKeyService, ConnectorService, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { FeeService } from "#proto/payments/v1/fee_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import { eventually } from "../harness/eventually.ts";
import type { WalkFault } from "./fault-table.ts";
import { queueFaults } from "./queue-story.ts";
import type { Shop } from "./shop.ts";
import type { Story } from "./story.ts";

/** @returns false: this merchant has nothing to change */
type Driver = (story: Story) => Promise<boolean>;

/** Long enough for requests that began before it to be repeated within it. */
const heldMs = { min: 300, max: 2_500 };
/** An operator's tool asks again while a part is away. */
const insists = { limitMs: 120_000, everyMs: 300 };
const operator = "walk";
/** Of new fee schedules: hundredths of a percent, and minor units. */
const basisPointsMax = 900;
const fixedMax = 40;
const scopes = ["payments:read", "payments:write", "merchant:read", "merchant:write"];

export const operatorFaults = {
  "risk rule added": async (story) => {
    const { shop, run, random } = story;
    const rules = run.rig.operators.checkout.client(RiskService);
    const currency = random.pick([
      ["EUR", 1],
      ["USD", 1],
      ["JPY", 1],
    ] as const);
    shop.refusals.add("payment_blocked");
    const blocking = { kind: RiskKind.AMOUNT_CAP, subject: currency, limit: 1n, operator, note: "for a while" };
    const { merchantId, environment } = shop;
    const { rule } = await rules.createRule({ ...blocking, merchantId, environment });
    await held(story);
    await insist("the rule to be removed", () => rules.deleteRule({ ruleId: rule?.id ?? "", operator }));
    return true;
  },
  "connector deactivated": async (story) => {
    const { shop, run } = story;
    if (!shop.stripe || isBusy(shop, "connector")) return false;
    const accounts = run.rig.operators.payments.client(ConnectorAccountService);
    const { merchantId, environment } = shop;
    const { connectorId } = shop.stripe;
    shop.refusals.add("no_connector");
    await busy(shop, "connector", async () => {
      await accounts.deactivateConnectorAccount({ merchantId, environment, connectorId });
      await held(story);
      await insist("the connector to be active again", () =>
        accounts.addConnectorAccount({
          merchantId,
          environment,
          connector: "stripe",
          credentials: credentialsOf(shop),
          makeDefault: !shop.simulator,
        }),
      );
    });
    return true;
  },
  "refunds switched off": async (story) => {
    const { shop, run } = story;
    const merchants = run.rig.operators.merchant.client(MerchantService);
    const { merchantId } = shop;
    shop.refusals.add("feature_disabled");
    await merchants.updateMerchantState({ merchantId, refundsEnabled: false });
    await held(story);
    await insist("refunds to be on again", () => merchants.updateMerchantState({ merchantId, refundsEnabled: true }));
    return true;
  },
  "API key replaced": async (story) => {
    const { shop, run } = story;
    if (isBusy(shop, "key")) return false;
    const keys = run.rig.operators.merchant.client(ApiKeyService);
    const { merchantId, environment } = shop;
    await busy(shop, "key", async () => {
      const { apiKeys } = await keys.listApiKeys({ merchantId, environment });
      const { secret } = await keys.createApiKey({ merchantId, environment, name: "next", scopes });
      shop.key.secret = secret;
      for (const old of apiKeys.filter(({ status }) => status === "active")) {
        await insist("the old key to be revoked", () =>
          keys.revokeApiKey({ merchantId, environment, apiKeyId: old.id }),
        );
      }
    });
    return true;
  },
  "credentials rotated": async (story) => {
    const { shop, run, random } = story;
    if (!shop.stripe || isBusy(shop, "connector")) return false;
    const accounts = run.rig.operators.payments.client(ConnectorAccountService);
    const { merchantId, environment } = shop;
    const { connectorId, webhookSecret } = shop.stripe;
    const next = `whsec_${shop.name}${random.int(2, 1_000_000)}`;
    const rotate = (secret: string) =>
      insist("the secret to be taken", () =>
        accounts.rotateConnectorCredentials({
          merchantId,
          environment,
          connectorId,
          credentials: { webhook_secret: secret },
        }),
      );
    await busy(shop, "connector", async () => {
      await rotate(`${next},${webhookSecret}`);
      if (shop.stripe) shop.stripe.webhookSecret = next;
      await held(story);
      await rotate(next);
    });
    return true;
  },
  "surface changed": async (story) => {
    const { shop, run, random } = story;
    const connectors = run.rig.operators.merchant.client(ConnectorService);
    const { merchantId, environment } = shop;
    const connectorId = random.pick(
      [shop.simulator, shop.stripe].flatMap((one) => (one ? [[one.connectorId, 1] as const] : [])),
    );
    const selectedSurface = random.pick([
      ["embedded", 1],
      ["redirect", 1],
    ] as const);
    await connectors.updateConnector({ merchantId, environment, connectorId, selectedSurface });
    return true;
  },
  "fee schedule changed": async ({ run, shop, random }) => {
    const key = { merchantId: shop.merchantId, currency: "*", connector: "*" };
    const rate = { basisPoints: random.int(0, basisPointsMax), fixedAmount: BigInt(random.int(0, fixedMax)) };
    const schedule = { key, ...rate, operator, note: "a new price" };
    await run.rig.operators.payments.client(FeeService).setFeeSchedule({ schedule });
    return true;
  },
  ...queueFaults,
} satisfies Partial<Record<WalkFault, Driver>>;
type OperatorFault = keyof typeof operatorFaults;

const weights: readonly (readonly [OperatorFault, number])[] = [
  ["risk rule added", 2],
  ["connector deactivated", 2],
  ["refunds switched off", 2],
  ["API key replaced", 2],
  ["credentials rotated", 2],
  ["surface changed", 4],
  ["fee schedule changed", 2],
  ["items resolved concurrently", 6],
  ["operation parked", 4],
];

/** Draws one, if the run does. One that fails because a process is unavailable is tried later. */
export async function playOperator(story: Story): Promise<void> {
  await operate(story, story.random.pick(story.run.drawn.eager(weights)));
}

/** In the middle of a payment's story. */
export async function changeFees(story: Story): Promise<void> {
  await operate(story, "fee schedule changed");
}

async function operate(story: Story, name: OperatorFault): Promise<void> {
  const { run, seen } = story;
  if (!run.drawn.may(name)) return;
  seen.count();
  if (await operatorFaults[name](story).catch(() => false)) run.drawn.count(name);
}

async function held({ random }: Story): Promise<void> {
  await pause(random.int(heldMs.min, heldMs.max));
}

/** Reverts a change, retrying while processes are killed. */
async function insist(what: string, act: () => Promise<unknown>): Promise<void> {
  const isDone = async () => {
    await act();
    return true;
  };
  await eventually(what, isDone, insists);
}

export function credentialsOf({ stripe }: Shop): Record<string, string> {
  const secret_key = stripe?.account.secretKey ?? "";
  const publishable_key = secret_key.replace("sk_", "pk_");
  return { secret_key, publishable_key, webhook_secret: stripe?.webhookSecret ?? "" };
}

/** Changes that two operators must not make at once, by merchant. */
const changing = new Set<string>();
type Thing = "connector" | "key";

function isBusy(shop: Shop, thing: Thing): boolean {
  return changing.has(`${shop.merchantId} ${thing}`);
}

async function busy(shop: Shop, thing: Thing, work: () => Promise<void>): Promise<void> {
  const name = `${shop.merchantId} ${thing}`;
  changing.add(name);
  await work().finally(() => changing.delete(name));
}
