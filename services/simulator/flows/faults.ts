// The active fault switches, in memory for fast checks and written through to the database.
import { newId } from "../new-id.ts";
import { type Fault, type FaultSubject, type FaultSwitch, isDrawn, isMeant } from "../rules/fault.ts";
import { countFault, deleteFaults, insertFault, loadFaults } from "../store/faults.ts";
import type { Db } from "../store/pool.ts";

const faultsMax = 100; // each call checks all of them

export class Faults {
  readonly #db: Db;
  #set: Fault[] = [];

  constructor(db: Db) {
    this.#db = db;
  }

  async load(): Promise<void> {
    this.#set = await loadFaults(this.#db);
  }

  get list(): readonly Fault[] {
    return this.#set;
  }

  get isFull(): boolean {
    return this.#set.length >= faultsMax;
  }

  async add(settings: FaultSwitch): Promise<Fault> {
    const fault = { ...settings, id: newId("fault"), drawn: 0, fired: 0 };
    await insertFault(this.#db, fault.id, settings);
    this.#set.push(fault);
    return fault;
  }

  async clear(): Promise<void> {
    await deleteFaults(this.#db);
    this.#set = [];
  }

  /** True if a switch filters by reference, which then must be read. */
  get needsReferences(): boolean {
    return this.#set.some((fault) => fault.reference !== undefined);
  }

  async take(subject: FaultSubject): Promise<Fault[]> {
    const meant = this.#set.filter((fault) => isMeant(fault, subject));
    if (meant.length === 0) return [];
    const firing = meant.filter((fault) => isDrawn(fault, fault.drawn++));
    for (const fault of firing) fault.fired++;
    await Promise.all(meant.map((fault) => countFault(this.#db, fault)));
    return firing;
  }
}
