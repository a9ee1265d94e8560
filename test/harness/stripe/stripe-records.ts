// The records of one account of the fake Stripe: its objects by id, its events, its balance changes, each at Stripe's
// own time, and whether lists show a new object yet.
export type Json = Record<string, unknown>;

export interface FakeIntent extends Json {
  id: string;
  amount: number;
  currency: string;
  status: string;
  metadata: Json;
  latest_charge: string | null;
  payment_method: string | null;
}
export interface FakeCharge extends Json {
  id: string;
  amount: number;
  amount_refunded: number;
  currency: string;
  payment_intent: string;
  status: string;
  disputed: boolean;
}
export interface FakeRefund extends Json {
  id: string;
  status: string;
  amount: number;
  currency: string;
  charge: string;
  payment_intent: string;
}
export interface FakeDispute extends Json {
  id: string;
  status: string;
  amount: number;
  charge: string;
  evidence_details: { due_by: number; has_evidence: boolean; past_due: boolean; submission_count: number };
}
export interface FakeSession extends Json {
  id: string;
  status: string;
  payment_intent: string | null;
}
export interface FakeEvent extends Json {
  id: string;
  type: string;
  data: { object: Json };
}
/** A balance transaction. */
export interface FakeMovement extends Json {
  id: string;
  type: string;
  source: string | null;
  amount: number;
  fee: number;
  net: number;
  currency: string;
  available_on: number;
}
export interface FakePayout extends Json {
  id: string;
  amount: number;
  currency: string;
  status: string;
  reconciliation_status: string;
}

export class StripeRecords {
  readonly id: string;
  readonly secretKey: string;
  readonly intents = new Map<string, FakeIntent>();
  readonly charges = new Map<string, FakeCharge>();
  readonly refunds = new Map<string, FakeRefund>();
  /** Files with their bytes as latin1. */
  readonly files = new Map<string, Json & { id: string; bytes: string }>();
  readonly disputes = new Map<string, FakeDispute>();
  readonly sessions = new Map<string, FakeSession>();
  readonly paymentMethods = new Map<string, Json & { id: string }>();
  /** Every change, oldest first; what the account's webhook endpoint would be sent. */
  readonly events: FakeEvent[] = [];
  /** Balance changes, oldest first. */
  readonly movements: FakeMovement[] = [];
  /** A new object is in no list, search or event list for this long; by its id it is found at once. */
  lagMs = 0;
  #count = 0;
  #asOf: number | undefined;
  readonly #live: boolean;
  readonly #clock: () => number;
  readonly #bornMs = new Map<string, number>();

  /** @param clock Stripe's, milliseconds since 1970. */
  constructor(id: string, secretKey: string, clock: () => number = Date.now) {
    this.id = id;
    this.secretKey = secretKey;
    this.#live = secretKey.includes("_live_");
    this.#clock = clock;
  }

  /** Stripe's time, in its whole seconds. */
  now(): number {
    return this.#asOf ?? Math.floor(this.#clock() / 1_000);
  }

  /** Does the work as if Stripe's clock showed another time: for objects of the past. @param seconds since 1970 */
  asOf<T>(seconds: number, work: () => T): T {
    this.#asOf = seconds;
    try {
      return work();
    } finally {
      this.#asOf = undefined;
    }
  }

  get isLive(): boolean {
    return this.#live;
  }

  newId(prefix: string): string {
    const id = `${prefix}_${this.id.slice(5)}${String(++this.#count).padStart(6, "0")}`;
    this.#bornMs.set(id, performance.now());
    return id;
  }

  /** False while a list does not show the object yet. */
  isListed(id: string): boolean {
    return this.lagMs === 0 || performance.now() - (this.#bornMs.get(id) ?? 0) >= this.lagMs;
  }

  announce(type: string, object: Json): void {
    const data = { object: structuredClone(object) };
    const id = this.newId("evt");
    this.events.push({ id, object: "event", type, livemode: this.#live, created: this.now(), data });
  }

  intent(id: string): FakeIntent {
    const intent = this.intents.get(id);
    if (!intent) throw new Error(`no intent ${id}`);
    return intent;
  }

  /** The charge that was tried last. */
  latestCharge(intent: FakeIntent): FakeCharge | undefined {
    return this.charges.get(intent.latest_charge ?? "");
  }
}
