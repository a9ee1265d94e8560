// The connectors of this build by name. A new one adds its file and one line here.
import { Failure } from "#platform/failure.ts";
import type { Connector } from "./connector.ts";

export class Connectors {
  readonly #byName: ReadonlyMap<string, Connector>;

  constructor(connectors: readonly Connector[]) {
    this.#byName = new Map(connectors.map((connector) => [connector.name, connector]));
  }

  /** @throws Failure NOT_FOUND for a name that this build does not have. */
  get(name: string): Connector {
    const connector = this.#byName.get(name);
    if (!connector) throw new Failure("NOT_FOUND", { cause: new Error(`no connector named ${name}`) });
    return connector;
  }
}
