// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";

export interface Event {
  /** `evt_…`. */
  id: string;
  /** Event code. */
  type: string;
  /** The payment that it is about; absent: none that can be read. */
  payment_id?: string;
  /** The body of its deliveries. */
  payload: Record<string, unknown>;
  /** When it was announced. */
  created_at: string;
}

/** Filters and pages of "List what happened". */
export interface ListEventsQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** Only what is older than this one: the last id of the page before. */
  after?: string | undefined;
  /** Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  from?: string | undefined;
  /** Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  to?: string | undefined;
  /** Exact match. At most 64 characters. */
  type?: string | undefined;
  /** Only those about this payment. */
  payment_id?: string | undefined;
}

export class EventsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List what happened.
   * What was announced in the last 30 days, newest first, whether or not an endpoint was subscribed: what a server that
   * was away reads to catch up. An event is here a moment after it happened; `test.ping` is not.
   * Iterating reads page after page.
   * Scope `payments:read`.
   */
  list(query: ListEventsQuery = {}, options?: RequestOptions): List<Event> {
    return this.#caller.list({ method: "GET", path: "/v1/events", query, paging: "after" }, options);
  }
}
