// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";

export interface EventType {
  /** What endpoints subscribe to. */
  code: string;
  /** For people. */
  label: string;
  /** `checkout`, `dispute`, `payment`, `refund` or `test`. */
  category: "checkout" | "dispute" | "payment" | "refund" | "test" | (string & {});
}

export class EventTypesResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the event types.
   * The authoritative catalogue of codes that can be subscribed to.
   * Scope `merchant:read`.
   */
  list(options?: RequestOptions): List<EventType> {
    return this.#caller.list({ method: "GET", path: "/v1/merchants/me/event-types", paging: "none" }, options);
  }
}
