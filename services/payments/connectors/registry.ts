// The connectors of this build by name, each behind the circuits of its accounts. A new one adds its file and two lines
// here.
import { Failure } from "#platform/values/failure.ts";
import type { FailureNames } from "../rules/failure-code.ts";
import type { CircuitSight, Circuits } from "./circuit.ts";
import type { Connector, ProcessorAccount } from "./connector.ts";
import { simulatorFailureNames } from "./simulator/failure-names.ts";
import { simulatorConnector } from "./simulator/simulator.ts";
import { stripeFailureNames } from "./stripe/failure-names.ts";
import { stripeConnector } from "./stripe/stripe.ts";

export interface ProcessorSettings {
  /** The simulator's API and form origin; undefined: there is none. */
  readonly simulator: { readonly url: string; readonly publicUrl: string } | undefined;
  /** Stripe's API; tests name another. */
  readonly stripeUrl: string;
  /** For one question to a processor as a whole. */
  readonly timeoutMs: number;
  /**
   * How long nothing must be found before absence is proved, and how long processors keep idempotency keys; seconds.
   */
  readonly keyLifeSeconds: number;
}

/** By connector: events say why a payment failed in the contract's words, also where its processor is switched off. */
export const failureNames: Readonly<Record<string, FailureNames>> = {
  simulator: simulatorFailureNames,
  stripe: stripeFailureNames,
};

/** All connectors of this build that have a processor. */
export function createConnectors(settings: ProcessorSettings, circuits: Circuits): Connectors {
  const { simulator, stripeUrl, timeoutMs, keyLifeSeconds } = settings;
  const connectors = [stripeConnector(stripeUrl, timeoutMs, keyLifeSeconds)];
  if (simulator) connectors.push(simulatorConnector(simulator.url, simulator.publicUrl, timeoutMs, keyLifeSeconds));
  return new Connectors(connectors, circuits);
}

export class Connectors {
  readonly #byName: ReadonlyMap<string, Connector>;
  readonly #circuits: Circuits;

  constructor(connectors: readonly Connector[], circuits: Circuits) {
    this.#byName = new Map(connectors.map((connector) => [connector.name, circuits.guard(connector)]));
    this.#circuits = circuits;
  }

  /** True when the account may take new payments here: its connector is one of these and serves its environment. */
  serves(account: Pick<ProcessorAccount, "connector" | "environment">): boolean {
    return this.#byName.get(account.connector)?.environments.includes(account.environment) ?? false;
  }

  /** undefined: it is none of these, as the simulator is where it has been switched off. */
  find(name: string): Connector | undefined {
    return this.#byName.get(name);
  }

  /** @throws Failure NOT_FOUND for a name that is none of these. */
  get(name: string): Connector {
    const connector = this.find(name);
    if (!connector) throw new Failure("NOT_FOUND", { cause: new Error(`no connector named ${name}`) });
    return connector;
  }

  /** True while nothing can be sent for the account: its circuit is open. */
  isDown(account: { readonly id: string }): boolean {
    return this.#circuits.isOpen(account.id);
  }

  /** The circuits of this process. */
  circuits(): readonly CircuitSight[] {
    return this.#circuits.sights();
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Ends the connections of all. */
  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((connector) => connector.close()));
  }
}
