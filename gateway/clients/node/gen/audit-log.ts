// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";

export interface AuditEntry {
  /** `evt_…`. */
  id: string;
  /** When it was done. */
  at: string;
  /** `sandbox` or `live`; absent: both. */
  environment?: "sandbox" | "live" | (string & {});
  /** `ak_…` of the API key, or `operator`; absent: the service by itself. */
  actor?: string;
  /** What was done, e.g. `api_key.created`, `endpoint.deleted`, `refund.requested`. */
  action: string;
  /** What it was done to. */
  object_id?: string;
  /** The object's status after it. */
  status?: string;
  /** The request that did it. */
  request_id?: string;
  /** Further facts, e.g. `payment_id` and `amount` of a refund. Never a secret. */
  details: Record<string, string>;
}

/** Filters and pages of "List who did what". */
export interface ListAuditEntriesQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** Only what is older than this one: the last id of the page before. */
  after?: string | undefined;
  /** Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  from?: string | undefined;
  /** Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  to?: string | undefined;
  /** Exact match. At most 64 characters. */
  action?: string | undefined;
  /** Only what was done to this object. At most 64 characters. */
  object_id?: string | undefined;
  /** Only what this API key, or `operator`, did. At most 64 characters. */
  actor?: string | undefined;
}

export class AuditLogResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List who did what.
   * Administrative acts on keys, endpoints, connectors, profile, branding and refunds, newest first: of the key's
   * environment, and what concerns both. An act is here a moment after it was done.
   * Iterating reads page after page.
   * Scope `merchant:read`.
   */
  list(query: ListAuditEntriesQuery = {}, options?: RequestOptions): List<AuditEntry> {
    return this.#caller.list({ method: "GET", path: "/v1/merchants/me/audit-log", query, paging: "after" }, options);
  }
}
