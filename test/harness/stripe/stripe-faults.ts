// Named faults of Stripe's API: what happens to a request's work, and the answer. A fault is planned for the next
// request of a kind, or drawn by a seeded chance.
import { Random } from "../../chaos/random.ts";

interface FaultPlan {
  /** Whether the request does its work. `later`: after the answer, and its key is in progress meanwhile. */
  readonly work: "never" | "now" | "later";
  /**
   * `true`: the answer of the work. `late`: the same, after `slowMs`. `half`: its beginning, then a broken connection.
   * `cut`: the connection breaks. `nothing`: silence. Otherwise a status, with Stripe's error or, without a type, an
   * edge server's page.
   */
  readonly answer: "late" | "half" | "cut" | "nothing" | { status: number; type?: string; code?: string };
  /** Stripe keeps this answer for the key, as it does with everything that came out of a request's work. */
  readonly isKept?: true;
}

const invalid = "invalid_request_error";
const plans = {
  "500": { work: "never", answer: { status: 500, type: "api_error", code: "" }, isKept: true },
  "500 done": { work: "now", answer: { status: 500, type: "api_error", code: "" }, isKept: true },
  "502": { work: "never", answer: { status: 502 } },
  "503": { work: "never", answer: { status: 503, type: "api_error", code: "" } },
  "not json": { work: "now", answer: { status: 502 } },
  "200 refused": { work: "now", answer: { status: 200, type: invalid, code: "parameter_invalid_integer" } },
  early: { work: "later", answer: { status: 502 } },
  "401": { work: "never", answer: { status: 401, type: invalid, code: "" } },
  "403": { work: "never", answer: { status: 403, type: invalid, code: "" } },
  missing: { work: "never", answer: { status: 404, type: invalid, code: "resource_missing" } },
  "408": { work: "never", answer: { status: 408, type: "api_error", code: "" } },
  "409": { work: "never", answer: { status: 409, type: "idempotency_error", code: "idempotency_key_in_use" } },
  "425": { work: "never", answer: { status: 425, type: "api_error", code: "" } },
  "429": { work: "never", answer: { status: 429, type: invalid, code: "rate_limit" } },
  lock_timeout: { work: "never", answer: { status: 429, type: invalid, code: "lock_timeout" } },
  cut: { work: "never", answer: "cut" },
  "cut done": { work: "now", answer: "cut" },
  "cut half": { work: "now", answer: "half" },
  silent: { work: "now", answer: "nothing" },
  slow: { work: "now", answer: "late" },
} as const satisfies Readonly<Record<string, FaultPlan>>;

export type StripeFault = keyof typeof plans;
/** Every fault by name. */
export const stripeFaults = Object.keys(plans) as readonly StripeFault[];
const isFault = (name: string): name is StripeFault => name in plans;

/** The plan of a fault. */
export function planOf(fault: StripeFault): FaultPlan {
  return plans[fault];
}

interface Misbehaviour {
  readonly fault: StripeFault;
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  /** 0…1 */
  readonly probability: number;
  /** The same seed fires at the same requests. */
  readonly seed: number;
}

/** Which fault strikes a request, and how often each did. */
export class FaultDraw {
  readonly #next: { method: string; path: RegExp; fault: StripeFault }[] = [];
  #chances: (Misbehaviour & { random: Random })[] = [];
  readonly #fired = new Map<StripeFault, number>();

  /** The next request of this kind goes wrong. */
  failNext(method: "GET" | "POST", path: RegExp, fault: StripeFault): void {
    this.#next.push({ method, path, fault });
  }

  /** From now on requests of this kind go wrong by a seeded chance. */
  misbehave(misbehaviour: Misbehaviour): void {
    if (!isFault(misbehaviour.fault)) throw new RangeError(`no fault named ${String(misbehaviour.fault)}`);
    this.#chances.push({ ...misbehaviour, random: new Random(misbehaviour.seed) });
  }

  /** From now on nothing goes wrong. */
  calm(): void {
    this.#chances = [];
    this.#next.length = 0;
  }

  /**
   * A planned fault goes before chance; every chance that fits is drawn, so that one does not shift the others'
   * numbers.
   */
  draw(method: string, path: string): StripeFault | undefined {
    const fits = (each: { method: string; path: RegExp }) => each.method === method && each.path.test(path);
    const drawn = this.#chances.filter(fits).filter(({ random, probability }) => random.chance(probability));
    const index = this.#next.findIndex(fits);
    const [planned] = index < 0 ? [] : this.#next.splice(index, 1);
    const fault = planned?.fault ?? drawn[0]?.fault;
    if (fault) this.#fired.set(fault, (this.#fired.get(fault) ?? 0) + 1);
    return fault;
  }

  /** How often each fault struck. */
  fired(): ReadonlyMap<StripeFault, number> {
    return new Map(this.#fired);
  }
}
