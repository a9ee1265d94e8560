// The connectors of this build by name, each behind the circuits of its accounts. A new one adds its file and one line in service.ts.
import { Failure } from "#platform/failure.ts";
import type { Circuits } from "./circuit.ts";
import type { Connector } from "./connector.ts";

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
}
