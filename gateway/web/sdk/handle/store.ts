// What a handle knows, and whom it tells: state, session, listeners. Listeners that throw harm nobody else.
import type { Events, HandleState, SessionView } from "../contract.ts";
import type { Render } from "../render.ts";

type Listener = (data: never) => void;

export class HandleStore {
  state: HandleState = "idle";
  session: SessionView | null = null;
  render: Render | undefined;
  readonly #listeners = new Map<string, Set<Listener>>();

  /** False once the session or the handle has ended. */
  get isLive(): boolean {
    return !["succeeded", "expired", "canceled", "destroyed"].includes(this.state);
  }

  /** Moves to the state and tells it; nothing leaves `destroyed`, and a paid session stays paid. */
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
    const known = this.#listeners.get(event) ?? new Set<Listener>();
    this.#listeners.set(event, known);
    known.add(listener);
    return () => void known.delete(listener);
  }

  silence(): void {
    this.#listeners.clear();
  }
}
