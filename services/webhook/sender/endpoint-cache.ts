// Caches endpoints for the sender. A change applies at once on its announcement, and within `freshMs` without one.
// Concurrent loads share one statement.
import { LRUCache } from "lru-cache";
import type { Sql } from "#platform/database/database.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { Cidr } from "#platform/values/address-range.ts";
import { type SigningKeys, signingKeys } from "../rules/signature.ts";
import { parseTarget, type Target } from "../rules/target.ts";
import type { LaneKey } from "../store/delivery-queue.ts";
import { type EndpointStatus, loadForSending, type SendingRow } from "../store/endpoints.ts";

export interface SendingEndpoint {
  /** Undefined if the current rules no longer allow the URL. */
  readonly target: Target | undefined;
  readonly status: EndpointStatus;
  /** Keys of the current signing secret, then of replaced ones that still sign. */
  readonly secrets: readonly SigningKeys[];
}

// Disabling stops deliveries within 1 s (docs/contract.md §9); the load itself takes the rest of that time.
const freshMs = 750;
// About 2 KiB each.
const entriesMax = 10_000;

interface Entry {
  readonly loadedAtMs: number;
  readonly row: SendingRow | undefined;
  readonly endpoint: SendingEndpoint | undefined;
}

/** The vault context of an endpoint's secrets. */
export function secretContext(endpointId: string): string {
  return `endpoint:${endpointId}`;
}

export class EndpointCache {
  readonly #sql: Sql;
  readonly #vault: Vault;
  readonly #log: Log;
  readonly #allow: readonly Cidr[];
  readonly #entries = new LRUCache<string, Entry>({ max: entriesMax });
  #wanted = new Map<string, LaneKey>();
  #load: Promise<void> | undefined;
  /** Announced changes; a row that was read before the last one is stale on arrival. */
  #changes = 0;

  constructor(options: { sql: Sql; vault: Vault; log: Log; allow: readonly Cidr[] }) {
    this.#sql = options.sql;
    this.#vault = options.vault;
    this.#log = options.log;
    this.#allow = options.allow;
  }

  /** The live endpoint; undefined if it does not exist or its secrets cannot be decrypted. */
  async get(key: LaneKey): Promise<SendingEndpoint | undefined> {
    const known = this.#entries.get(key.endpointId);
    if (known && performance.now() - known.loadedAtMs < freshMs) return known.endpoint;
    this.#wanted.set(key.endpointId, key);
    await (this.#load ??= this.#loadWanted());
    return this.#entries.get(key.endpointId)?.endpoint;
  }

  /** Call after a change of the endpoint. */
  forget(endpointId: string): void {
    this.#changes += 1;
    const entry = this.#entries.get(endpointId);
    if (entry) this.#entries.set(endpointId, { ...entry, loadedAtMs: Number.NEGATIVE_INFINITY });
  }

  /** Call when any endpoint may have changed. */
  forgetAll(): void {
    this.#changes += 1;
    for (const id of [...this.#entries.keys()]) this.forget(id);
  }

  async #loadWanted(): Promise<void> {
    // Collects all keys of this turn of the event loop.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const wanted = this.#wanted;
    this.#wanted = new Map();
    this.#load = undefined;
    const [changes, began] = [this.#changes, performance.now()];
    const rows = await loadForSending(this.#sql, [...wanted.values()]);
    const loadedAtMs = changes === this.#changes ? began : Number.NEGATIVE_INFINITY;
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const id of wanted.keys()) this.#keep(id, byId.get(id), loadedAtMs);
  }

  #keep(id: string, row: SendingRow | undefined, loadedAtMs: number): void {
    const before = this.#entries.get(id);
    const endpoint = row && this.#endpoint(row, before);
    this.#entries.set(id, { loadedAtMs, row, endpoint });
  }

  #endpoint(row: SendingRow, before: Entry | undefined): SendingEndpoint | undefined {
    if (before?.endpoint && before.row?.url === row.url && sameSecrets(before.row, row)) {
      return { ...before.endpoint, status: row.status };
    }
    try {
      const secrets = row.secrets.map((bytes) => signingKeys(this.#vault.decrypt(bytes, secretContext(row.id))));
      const target = parseTarget(row.url, this.#allow);
      return { target: "problem" in target ? undefined : target, status: row.status, secrets };
    } catch (error) {
      this.#log.error({ err: error, endpoint: row.id }, "signing secret not decrypted: deliveries wait");
      return undefined;
    }
  }
}

function sameSecrets(a: SendingRow, b: SendingRow): boolean {
  return a.secrets.length === b.secrets.length && a.secrets.every((secret, i) => b.secrets[i]?.equals(secret));
}
