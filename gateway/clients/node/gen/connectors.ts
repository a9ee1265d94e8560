// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";

export interface Connector {
  /** `mco_…`. */
  id: string;
  /** Name of the connector. */
  connector: string;
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  /** The primary one. */
  is_default: boolean;
  /** False: no new sessions use it. */
  is_active: boolean;
  /** False: it can never be made primary. */
  can_be_primary: boolean;
  allowed_surfaces: string[];
  /** Used while none is selected. */
  default_surface?: string;
  /** The merchant's choice. */
  selected_surface?: string;
  /** What new sessions get. */
  surface?: string;
  /** The account's id at the processor. */
  external_account_id?: string;
}

export interface ConnectorChange {
  /** One of the connector's allowed surfaces. */
  selected_surface?: "embedded" | "hosted" | "redirect" | undefined;
  /** Makes it primary in place of the other one. */
  is_default?: boolean | undefined;
}

export class ConnectorsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the connectors.
   * Your accounts at card processors in the key's environment. Never with their credentials.
   * Scope `merchant:read`.
   */
  list(options?: RequestOptions): List<Connector> {
    return this.#caller.list({ method: "GET", path: "/v1/merchants/me/connectors", paging: "none" }, options);
  }

  /**
   * Choose the surface or make a connector primary.
   * At least one field is needed.
   * Scope `merchant:write`.
   */
  update(connectorId: string, body: ConnectorChange, options?: RequestOptions): Promise<Connector> {
    return this.#caller.send(
      { method: "PATCH", path: path`/v1/merchants/me/connectors/${connectorId}`, body },
      options,
    );
  }
}
