// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";

export interface ApiRequest {
  /** The answer's `Request-Id`. */
  id: string;
  /** When it came in. */
  at: string;
  /** HTTP method. */
  method: string;
  /** Its path, without the query. */
  path: string;
  /** HTTP status. */
  status: number;
  /** Of the error, if it was one. */
  error_code?: string;
  /** Milliseconds to the end of the answer. */
  duration_ms: number;
  /** The key; absent without a valid one. */
  api_key_id?: string;
}

/** Filters and pages of "List API requests". */
export interface ListApiRequestsQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** Only what is older than this one: the last id of the page before. */
  after?: string | undefined;
  /** Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  from?: string | undefined;
  /** Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  to?: string | undefined;
  /** Only those of this key. */
  api_key_id?: string | undefined;
  /** Only HTTP statuses from this one on: 400 for all errors. 100 to 599. */
  min_status?: number | undefined;
}

export class ApiRequestsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List API requests.
   * The requests of the key's environment in the last 30 days, newest first; without queries and bodies. A request is
   * here within two seconds.
   * Iterating reads page after page.
   * Scope `merchant:read`.
   */
  list(query: ListApiRequestsQuery = {}, options?: RequestOptions): List<ApiRequest> {
    return this.#caller.list({ method: "GET", path: "/v1/merchants/me/requests", query, paging: "after" }, options);
  }

  /**
   * Read an API request.
   * By the `Request-Id` that its answer carried.
   * Scope `merchant:read`.
   */
  get(apiRequestId: string, options?: RequestOptions): Promise<ApiRequest> {
    return this.#caller.send({ method: "GET", path: path`/v1/merchants/me/requests/${apiRequestId}` }, options);
  }
}
