// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";

export interface ApiKey {
  /** `ak_…`. */
  id: string;
  /** Label. */
  name: string;
  /** The last four characters of the key. */
  suffix: string;
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  scopes: string[];
  /** Networks that it may be used from; absent: everywhere. */
  allowed_ips?: string[];
  /** `active`, `expired` or `revoked`. */
  status: "active" | "expired" | "revoked" | (string & {});
  /** When it was created. */
  created_at: string;
  /** When it stops working; absent: never. */
  expires_at?: string;
  /** At most 60 s late; absent: never used. */
  last_used_at?: string;
}

export interface ApiKeyChange {
  /**
   * Live keys only: the IP addresses and networks that the key may be used from; from others it is 403 `forbidden`.
   * Empty: everywhere. A network is as `203.0.113.0/24`, not wider than /8 (IPv6: /16), with nothing set after its
   * prefix. The address is the one that the API sees: that of your own proxy, if there is one. At most 20.
   */
  allowed_ips: string[];
}

export interface ApiKeyRequest {
  /** At most 100 characters. */
  name?: string | undefined;
  /** Subset of the calling key's own; all of them when absent. At most 16. */
  scopes?: ("payments:read" | "payments:write" | "merchant:read" | "merchant:write")[] | undefined;
  /**
   * RFC 3339, in the future, and not later than the calling key's own; absent: the calling key's own, or never. At most
   * 40 characters.
   */
  expires_at?: string | undefined;
  /** The environment of the API key. */
  environment?: "sandbox" | "live" | undefined;
  /**
   * Live keys only: the IP addresses and networks that the key may be used from; from others it is 403 `forbidden`.
   * Within the calling key's own; those when absent. Without any, or empty: everywhere. A network is as
   * `203.0.113.0/24`, not wider than /8 (IPv6: /16), with nothing set after its prefix. The address is the one that the
   * API sees: that of your own proxy, if there is one. At most 20.
   */
  allowed_ips?: string[] | undefined;
}

export interface ApiKeyRollRequest {
  /** How long the old key goes on working, seconds. 0 to 604,800. */
  expires_in?: number | undefined;
}

export interface NewApiKey {
  /** The raw key; it cannot be retrieved again. */
  api_key: string;
  /** A reminder. */
  note: string;
  /** `ak_…`. */
  id: string;
  /** Label. */
  name: string;
  /** The last four characters of the key. */
  suffix: string;
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  scopes: string[];
  /** Networks that it may be used from; absent: everywhere. */
  allowed_ips?: string[];
  /** `active`, `expired` or `revoked`. */
  status: "active" | "expired" | "revoked" | (string & {});
  /** When it was created. */
  created_at: string;
  /** When it stops working; absent: never. */
  expires_at?: string;
  /** At most 60 s late; absent: never used. */
  last_used_at?: string;
}

/** Filters and pages of "List the API keys". */
export interface ListApiKeysQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** How many to pass over. */
  offset?: number | undefined;
  /** Only keys that come after this one; `offset` counts from there. */
  after?: string | undefined;
}

export class ApiKeysResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the API keys.
   * Active ones first, then the newest first. `total` is exact, of keys of any status.
   * Iterating reads page after page.
   * Scope `merchant:read`.
   */
  list(query: ListApiKeysQuery = {}, options?: RequestOptions): List<ApiKey> {
    return this.#caller.list({ method: "GET", path: "/v1/merchants/me/api-keys", query, paging: "after" }, options);
  }

  /**
   * Create an API key.
   * The answer holds the raw key, once. The key is of the calling key's environment, and gets no more than that has: a
   * subset of its scopes and addresses, and no later an expiry (403 `forbidden` otherwise). At most 50 keys of an
   * environment are active.
   * Scope `merchant:write`.
   */
  create(body: ApiKeyRequest = {}, options?: RequestOptions): Promise<NewApiKey> {
    return this.#caller.send({ method: "POST", path: "/v1/merchants/me/api-keys", body }, options);
  }

  /**
   * Limit an API key to addresses.
   * It is refused elsewhere within a second, and the change stands in the audit log. A key that is itself limited
   * chooses among its own addresses, so it never widens itself; more addresses for another key need everything that
   * this one has (403 `forbidden` otherwise). Only active keys can be changed. Mind your own address: a merchant that
   * has shut itself out needs the operator.
   * Scope `merchant:write`.
   */
  limit(apiKeyId: string, body: ApiKeyChange, options?: RequestOptions): Promise<ApiKey> {
    return this.#caller.send({ method: "PATCH", path: path`/v1/merchants/me/api-keys/${apiKeyId}`, body }, options);
  }

  /**
   * Revoke an API key.
   * It stops working everywhere within a second. Any key with `merchant:write` may revoke any other one.
   * Scope `merchant:write`.
   */
  revoke(apiKeyId: string, options?: RequestOptions): Promise<void> {
    return this.#caller.send({ method: "DELETE", path: path`/v1/merchants/me/api-keys/${apiKeyId}` }, options);
  }

  /**
   * Replace an API key.
   * Creates a successor with the same name, scopes, addresses and expiry; the old key works on during the overlap. The
   * calling key needs every scope and address of the rolled one, and may not end before it (403 `forbidden` otherwise).
   * Without an overlap (`expires_in` 0) it works also when 50 keys are active.
   * Scope `merchant:write`.
   */
  roll(apiKeyId: string, body: ApiKeyRollRequest = {}, options?: RequestOptions): Promise<NewApiKey> {
    return this.#caller.send({ method: "POST", path: path`/v1/merchants/me/api-keys/${apiKeyId}/roll`, body }, options);
  }
}
