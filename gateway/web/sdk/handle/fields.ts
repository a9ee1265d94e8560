// Manages the fields on the page. A later mount or an unmount ends the previous mount, which then resolves and gets no
// further events.
import type { Appearance, CheckoutError, LoadResult, SessionView, TestCard } from "../contract.ts";
import type { Fail } from "../failure.ts";
import { runningSession } from "../session.ts";
import { mountSurface } from "../surfaces/choose.ts";
import type { MountedSurface, SurfacePort, SurfaceResult, SurfaceSettings } from "../surfaces/surface.ts";
import type { HandleStore } from "./store.ts";

export interface FieldsParts {
  readonly store: HandleStore;
  readonly fail: Fail;
  readonly settings: Omit<SurfaceSettings, "appearance">;
  readonly load: () => Promise<LoadResult>;
  /** Called with the fields' results of an attempt. */
  readonly onResult: (result: SurfaceResult) => void;
}

type OnMounted = (error?: CheckoutError) => void;

export class Fields {
  readonly #parts: FieldsParts;
  #appearance: Appearance;
  #target: Element | undefined;
  #container: HTMLElement | undefined;
  #surface: MountedSurface | undefined;
  #mounting: Promise<LoadResult> | undefined;
  /** The render that the surface was mounted from, as JSON. */
  #shown = "";
  /** Incremented by each mount and unmount. */
  #generation = 0;
  testCards: readonly TestCard[] = [];

  constructor(parts: FieldsParts, appearance: Appearance) {
    this.#parts = parts;
    this.#appearance = appearance;
  }

  get surface(): MountedSurface | undefined {
    return this.#surface;
  }

  get isPlaced(): boolean {
    return this.#target !== undefined;
  }

  /** The pending or finished mount at this element; undefined without one, or if it failed. */
  mountAt(target: Element): Promise<LoadResult> | undefined {
    return target === this.#target && this.#parts.store.state !== "failed" ? this.#mounting : undefined;
  }

  /** Resolves when the fields are usable, or with an error. */
  mount(target: Element): Promise<LoadResult> {
    this.#mounting = this.#put(target);
    return this.#mounting;
  }

  leave(): void {
    this.#generation += 1;
    this.#target = undefined;
    this.#mounting = undefined;
    this.clear();
  }

  /** Removes the surface and keeps its target. */
  clear(): void {
    this.#surface?.unmount();
    this.#surface = undefined;
    this.#container?.remove();
    this.#container = undefined;
    this.testCards = [];
  }

  /** Mounts new, empty fields at the same target. */
  renew(): void {
    const { store } = this.#parts;
    store.render = undefined; // read again, since the processor may have changed it
    store.move("loading");
    this.#remount();
  }

  #remount(): void {
    this.clear();
    if (this.#target) void this.mount(this.#target);
  }

  /**
   * Shows the new render if the processor has replaced its page.
   * @returns true if the buyer's input is lost
   */
  replaceEnded(): boolean {
    const { store } = this.#parts;
    const { render, state } = store;
    const isIdle = ["ready", "loading", "submitting"].includes(state);
    if (!this.#surface || !render || !isIdle || JSON.stringify(render) === this.#shown) return false;
    const isTyped = render.kind !== "redirect";
    if (isTyped) store.move("loading");
    this.#remount();
    return isTyped;
  }

  setAppearance(next: Appearance): void {
    this.#appearance = { ...this.#appearance, ...next };
    this.#surface?.setAppearance(this.#appearance);
  }

  async #put(target: Element): Promise<LoadResult> {
    const { store, load } = this.#parts;
    const own = ++this.#generation;
    this.#target = target;
    if (["idle", "ready", "failed"].includes(store.state)) store.move("loading");
    const loaded: LoadResult =
      store.session && store.render && store.state !== "failed" ? { ok: true, session: store.session } : await load();
    if (own !== this.#generation || !loaded.ok || !store.isLive || loaded.session.status !== "open") return loaded;
    return await this.#show(target, own, loaded.session);
  }

  #show(target: Element, own: number, session: SessionView): Promise<LoadResult> {
    const { store, fail, settings } = this.#parts;
    return new Promise((resolve) => {
      const answer: OnMounted = (error) => {
        if (!error) return resolve({ ok: true, session: store.session ?? session });
        store.move("failed");
        store.emit("error", error);
        resolve({ ok: false, error });
      };
      const { render } = store;
      if (!render) return answer(fail("unsupported_surface"));
      this.#shown = JSON.stringify(render);
      this.#container = document.createElement("div");
      target.append(this.#container);
      const port = this.#port(own, session, answer);
      this.#surface = mountSurface(this.#container, render, port, { ...settings, appearance: this.#appearance });
      // Resolves this mount if the fields are removed before they are ready.
      const off = store.on("state", () => {
        if (own === this.#generation && store.state !== "destroyed" && store.isLive) return;
        off();
        answer();
      });
    });
  }

  /** The port of one mount; it ignores calls after a later mount. */
  #port(own: number, opened: SessionView, answer: OnMounted): SurfacePort {
    const { store, fail, onResult } = this.#parts;
    const ifCurrent =
      <A extends unknown[]>(listener: (...args: A) => void) =>
      (...args: A) => {
        if (own === this.#generation) listener(...args);
      };
    return {
      ready: ifCurrent((cards) => {
        this.testCards = cards;
        if (store.state === "loading") store.move("ready");
        const session = runningSession(opened);
        if (session) store.emit("ready", { session });
        answer();
      }),
      change: ifCurrent((change) => store.emit("change", change)),
      submitRequested: ifCurrent(() => store.emit("submit_requested", {})),
      result: ifCurrent((result) => {
        answer(); // fields that find an attempt in progress are usable, too
        onResult(result);
      }),
      resize: ifCurrent((height) => store.emit("resize", { height })),
      failed: ifCurrent((code, details) => {
        this.clear();
        answer(fail(code, details));
      }),
    };
  }
}
