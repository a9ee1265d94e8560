// The connectors of this build by name, each behind the circuits of its accounts. A new one adds its file and one line here.
import { Failure } from "#platform/failure.ts";
import type { Circuits } from "./circuit.ts";
import type { Connector } from "./connector.ts";
import { simulatorConnector } from "./simulator.ts";
import { stripeConnector } from "./stripe.ts";

export interface ProcessorSettings {
  /** The simulator's API and form origin. */
  readonly simulatorUrl: string;
  readonly simulatorPublicUrl: string;
  /** Stripe's API; tests name another. */
  readonly stripeUrl: string;
  /** For one question to a processor as a whole. */
  readonly timeoutMs: number;
  /** How long nothing must be found before absence is proved, and how long processors keep idempotency keys; seconds. */
  readonly keyLifeSeconds: number;
}

/** All connectors that this build has. */
export function createConnectors(settings: ProcessorSettings, circuits: Circuits): Connectors {
  const { simulatorUrl, simulatorPublicUrl, stripeUrl, timeoutMs, keyLifeSeconds } = settings;
  const connectors = [
    simulatorConnector(simulatorUrl, simulatorPublicUrl, timeoutMs, keyLifeSeconds),
    stripeConnector(stripeUrl, timeoutMs, keyLifeSeconds),
  ];
  return new Connectors(connectors, circuits);
}

export class Connectors {
  readonly #byName: ReadonlyMap<string, Connector>;
  readonly #circuits: Circuits;

  constructor(connectors: readonly Connector[], circuits: Circuits) {
    this.#byName = new Map(connectors.map((connector) => [connector.name, circuits.guard(connector)]));
    this.#circuits = circuits;
  }

  /** @throws Failure NOT_FOUND for a name that this build does not have. */
  get(name: string): Connector {
    const connector = this.#byName.get(name);
    if (!connector) throw new Failure("NOT_FOUND", { cause: new Error(`no connector named ${name}`) });
    return connector;
  }

  /** True while nothing can be sent for the account: its circuit is open. */
  isDown(account: { readonly id: string }): boolean {
    return this.#circuits.isOpen(account.id);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Ends the connections of all. */
  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((connector) => connector.close()));
  }
}
