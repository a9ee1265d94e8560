// A whole stack of which every way between its processes, to PostgreSQL, to NATS and to the processor leads over a link
// of its own, so that the connections of one way can vanish without a word while new ones to the same address work.
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { type Api, merchantApi } from "../harness/api.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { startTestStack } from "../harness/stack.ts";
import { type BadLink, openLink } from "./link.ts";

/** By the setting that names its far end, such as `DATABASE_URL`. */
export interface Route {
  readonly of: string;
  readonly setting: string;
}

export interface VanishRig {
  readonly running: RunningStack;
  readonly merchant: Api;
  /** The merchant's endpoint for payment events. */
  readonly receiver: Receiver;
  readonly routes: readonly Route[];
  /** Drops the open connections of these routes silently. @returns their number by client */
  vanish(gone: (route: Route) => boolean): ReadonlyMap<string, number>;
  /** Of the parts, as they were started. */
  readonly pidsAtFirst: Readonly<Record<string, number>>;
  /** Past every link. */
  databaseOf(service: string): string;
  stop(): Promise<void>;
}

const settings: Readonly<Record<string, readonly string[]>> = {
  merchant: ["DATABASE_URL", "NATS_URL"],
  payments: ["DATABASE_URL", "NATS_URL", "MERCHANT_URL", "SIMULATOR_URL"],
  checkout: ["DATABASE_URL", "NATS_URL", "PAYMENTS_URL", "MERCHANT_URL"],
  webhook: ["DATABASE_URL", "NATS_URL", "CHECKOUT_URL", "PAYMENTS_URL"],
  gateway: ["NATS_URL", "CHECKOUT_URL", "PAYMENTS_URL", "MERCHANT_URL", "WEBHOOK_URL"],
};

/** One way's link; where it leads is known when its process is started. */
class RouteLink implements Route {
  readonly of: string;
  readonly setting: string;
  #target = 0;
  #link: BadLink | undefined;

  constructor(of: string, setting: string) {
    this.of = of;
    this.setting = setting;
  }

  async open(): Promise<void> {
    this.#link = await openLink(() => this.#target);
  }

  /** The same URL by way of the link. */
  through(url: string): string {
    const led = new URL(url);
    this.#target = Number(led.port);
    led.port = String(this.#link?.port);
    return led.href;
  }

  vanish(): number {
    return this.#link?.vanish() ?? 0;
  }

  async close(): Promise<void> {
    await this.#link?.close();
  }
}

export async function startVanishRig(): Promise<VanishRig> {
  const routes = Object.entries(settings).flatMap(([of, names]) => names.map((setting) => new RouteLink(of, setting)));
  await Promise.all(routes.map((route) => route.open()));
  const closeRoutes = () => Promise.all(routes.map((route) => route.close()));
  const envOf = (name: string, set: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      routes
        .filter((route) => route.of === name)
        .map((route) => [route.setting, route.through(set[route.setting] ?? "")]),
    );
  try {
    const running = await startTestStack({ ownServers: true, env: { LOG_LEVEL: "info" }, envOf });
    const { stack } = running;
    const receiver = await startReceiver(stack.tls);
    const merchant = merchantApi(stack.gateway, stack.api_key);
    const endpoint = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded"] };
    (await merchant.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
    return {
      running,
      merchant,
      receiver,
      routes,
      pidsAtFirst: { ...stack.pids },
      vanish(gone) {
        const counts = new Map<string, number>();
        for (const route of routes.filter(gone)) counts.set(route.of, (counts.get(route.of) ?? 0) + route.vanish());
        return counts;
      },
      databaseOf: (service) => databaseUrlOf(stack.database, service),
      async stop() {
        await receiver.close();
        // Ends the dropped connections, so that their clients stop waiting.
        await closeRoutes();
        await running.stop();
      },
    };
  } catch (error) {
    await closeRoutes();
    throw error;
  }
}
