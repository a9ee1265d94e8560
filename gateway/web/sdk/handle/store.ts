// State, session and listeners of a handle. A listener that throws does not affect others.
import type { Events, HandleState, SessionView } from "../contract.ts";
import type { Render } from "../render.ts";

type Listener = (data: never) => void;

export class HandleStore {
  state: HandleState = "idle";
  session: SessionView | null = null;
  render: Render | undefined;
  readonly #listeners = new Map<string, Set<Listener>>();

  /** False after the session or the handle has ended. */
  get isLive(): boolean {
    return !["succeeded", "expired", "canceled", "destroyed"].includes(this.state);
  }

  /** Changes the state and emits it. `destroyed` is final, and a paid session stays paid. */
  move(state: HandleState): void {
    if (this.state === state || this.state === "destroyed") return;
    if (this.state === "succeeded" && state !== "destroyed") return;
    this.state = state;
    this.emit("state", state);
    if (state === "expired") this.emit("expired", {});
  }

  emit<K extends keyof Events>(event: K, data: Events[K]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        (listener as (data: Events[K]) => void)(data);
      } catch (error) {
        console.error(error);
      }
    }
  }

  on<K extends keyof Events>(event: K, listener: (data: Events[K]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set<Listener>();
    this.#listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  silence(): void {
    this.#listeners.clear();
  }
}
