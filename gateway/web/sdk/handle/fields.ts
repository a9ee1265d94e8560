// The fields on the page: where they are, the surface that shows them, and for which mount. A later mount or an unmount
// takes them from the one before, which is then answered and hears nothing more.
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
  /** What the fields say of an attempt. */
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
  /** What the surface was mounted from. */
  #shown = "";
  /** Grows with each mount and unmount. */
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

  /** The mount under way or done at this element; undefined: none, or one that failed. */
  mountAt(target: Element): Promise<LoadResult> | undefined {
    return target === this.#target && this.#parts.store.state !== "failed" ? this.#mounting : undefined;
  }

  /** Resolves when the fields can be used, or with why they cannot. */
  mount(target: Element): Promise<LoadResult> {
    this.#mounting = this.#put(target);
    return this.#mounting;
  }

  /** They are no one's any more. */
  leave(): void {
    this.#generation += 1;
    this.#target = undefined;
    this.#mounting = undefined;
    this.clear();
  }

  /** Takes the surface away; its place stays. */
  clear(): void {
    this.#surface?.unmount();
    this.#surface = undefined;
    this.#container?.remove();
    this.#container = undefined;
    this.testCards = [];
  }

  /** Empty fields at the same place. */
  renew(): void {
    const { store } = this.#parts;
    store.render = undefined; // read anew: the processor may have changed what it wants
    store.move("loading");
    this.#remount();
  }

  #remount(): void {
    this.clear();
    if (this.#target) void this.mount(this.#target);
  }

  /**
   * The processor's page has ended and another one has taken its place: that is shown from now on.
   * @returns true: what was typed into the old one is gone
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
      // Whoever takes the fields away answers this mount.
      const off = store.on("state", () => {
        if (own === this.#generation && store.state !== "destroyed" && store.isLive) return;
        off();
        answer();
      });
    });
  }

  /** What the surface of one mount tells; fields of an earlier mount tell nobody. */
  #port(own: number, opened: SessionView, answer: OnMounted): SurfacePort {
    const { store, fail, onResult } = this.#parts;
    const mine =
      <A extends unknown[]>(listener: (...args: A) => void) =>
      (...args: A) => {
        if (own === this.#generation) listener(...args);
      };
    return {
      ready: mine((cards) => {
        this.testCards = cards;
        if (store.state === "loading") store.move("ready");
        const session = runningSession(opened);
        if (session) store.emit("ready", { session });
        answer();
      }),
      change: mine((change) => store.emit("change", change)),
      submitRequested: mine(() => store.emit("submit_requested", {})),
      result: mine((result) => {
        answer(); // fields that find an attempt under way are there, too
        onResult(result);
      }),
      resize: mine((height) => store.emit("resize", { height })),
      failed: mine((code, details) => {
        this.clear();
        answer(fail(code, details));
      }),
    };
  }
}
