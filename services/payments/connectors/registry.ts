// The connectors of this build by name, each behind the circuits of its accounts.
import { Failure } from "#platform/values/failure.ts";
import type { FailureNames } from "../rules/failure-code.ts";
import { adyenConnector } from "./adyen/adyen.ts";
import { adyenFailureNames } from "./adyen/failure-names.ts";
import type { CircuitSnapshot, Circuits } from "./circuit.ts";
import type { Connector, ProcessorAccount } from "./connector.ts";
import type { NoticeLog } from "./notice-log.ts";
import { simulatorFailureNames } from "./simulator/answers.ts";
import { simulatorConnector } from "./simulator/simulator.ts";
import { stripeFailureNames } from "./stripe/failure-names.ts";
import { stripeConnector } from "./stripe/stripe.ts";

export interface ProcessorSettings {
  /** The simulator's API and form origin; undefined: no simulator. */
  readonly simulator: { readonly url: string; readonly publicUrl: string } | undefined;
  /** Stripe's API; tests set another. */
  readonly stripeUrl: string;
  /** Adyen's API for test accounts; tests set another. */
  readonly adyenUrl: string;
  /** For processors that cannot be queried. */
  readonly notices: NoticeLog;
  /** For one call of the port, with all its requests. */
  readonly timeoutMs: number;
  /** How long processors keep idempotency keys, and how long a missing object proves its absence; seconds. */
  readonly keyLifeSeconds: number;
}

/** By connector, also for one that is switched off: events carry the contract's failure codes. */
export const failureNames: Readonly<Record<string, FailureNames>> = {
  adyen: adyenFailureNames,
  simulator: simulatorFailureNames,
  stripe: stripeFailureNames,
};

export function createConnectors(settings: ProcessorSettings, circuits: Circuits): Connectors {
  const { simulator, stripeUrl, adyenUrl, notices, timeoutMs, keyLifeSeconds } = settings;
  const connectors = [
    stripeConnector(stripeUrl, timeoutMs, keyLifeSeconds),
    adyenConnector(adyenUrl, timeoutMs, notices),
  ];
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

  /** True if the account can take new payments: its connector exists and serves its environment. */
  serves(account: Pick<ProcessorAccount, "connector" | "environment">): boolean {
    return this.#byName.get(account.connector)?.environments.includes(account.environment) ?? false;
  }

  /** undefined: unknown, or switched off like the simulator in production. */
  find(name: string): Connector | undefined {
    return this.#byName.get(name);
  }

  /** @throws Failure NOT_FOUND: unknown name. */
  get(name: string): Connector {
    const connector = this.find(name);
    if (!connector) throw new Failure("NOT_FOUND", { cause: new Error(`no connector named ${name}`) });
    return connector;
  }

  /** True while the account's circuit is open. */
  isDown(account: { readonly id: string }): boolean {
    return this.#circuits.isOpen(account.id);
  }

  circuits(): readonly CircuitSnapshot[] {
    return this.#circuits.snapshot();
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((connector) => connector.close()));
  }
}
