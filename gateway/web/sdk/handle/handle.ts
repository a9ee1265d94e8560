// A handle of one session on one page: reads it, mounts its surface, pays, and polls it until it ends. Errors are
// values or events; nothing throws.
import { type ApiAnswer, type CheckoutApi, checkoutApi } from "../api.ts";
import type { CheckoutHandle, ConfirmResult, CreateOptions, LoadResult } from "../contract.ts";
import type { ReadTexts } from "../error-messages.ts";
import { createFail, type Fail } from "../failure.ts";
import { type ReadSession, runningSession } from "../session.ts";
import type { Wallets } from "../surfaces/surface.ts";
import { Attempts, endedResult } from "./attempt.ts";
import { Fields } from "./fields.ts";
import { HandleStore, watchSession } from "./store.ts";

/** Public options, and the hosted page's wallets. */
type HandleOptions = CreateOptions & { readonly wallets?: Wallets };

/**
 * @param scriptOrigin origin of the script, the API's default origin
 * @param readTexts undefined if the page has its own texts
 */
export function createHandle(options: HandleOptions, scriptOrigin: string, readTexts?: ReadTexts): CheckoutHandle {
  const handle = new Handle(options, scriptOrigin, readTexts);
  const { store, fields } = handle;
  return {
    load: () => handle.load(),
    mount: (target) => handle.mount(target),
    unmount: () => handle.unmount(),
    destroy: () => handle.destroy(),
    confirm: () => handle.confirm(),
    refresh: () => handle.load(),
    setAppearance: (next) => fields.setAppearance(next),
    focus: () => fields.surface?.focus(),
    fillTestCard: (number) => fields.surface?.fill?.(number),
    get state() {
      return store.state;
    },
    get session() {
      return store.session;
    },
    get testCards() {
      return fields.testCards;
    },
    on: (event, listener) => store.on(event, listener),
  };
}

class Handle {
  readonly store = new HandleStore();
  readonly fields: Fields;
  readonly #fail: Fail;
  readonly #life = new AbortController();
  readonly #api: CheckoutApi;
  readonly #attempts: Attempts;
  readonly #loadTexts: () => Promise<void>;
  #texts: Promise<void> | undefined;
  #loading: Promise<LoadResult> | undefined;
  /** The last read removed the buyer's input. */
  #isEmptied = false;
  #isWatched = false;

  constructor(options: HandleOptions, scriptOrigin: string, readTexts: ReadTexts = async () => ({})) {
    const { store } = this;
    const messages = { ...options.messages };
    const fail = createFail(messages);
    const locale = options.locale ?? (document.documentElement.lang || navigator.language);
    const apiContext = { origin: options.apiOrigin ?? scriptOrigin, locale, fail, signal: this.#life.signal };
    this.#fail = fail;
    this.#api = checkoutApi(options.sessionSecret, apiContext);
    const { title = "Card details", nonce, wallets } = options;
    this.#loadTexts = async () => {
      const texts = await readTexts(apiContext);
      Object.assign(messages, texts, options.messages);
      if (typeof texts.title === "string") settings.title = options.title ?? texts.title;
    };
    const settings = {
      ...{ locale, title, nonce, wallets },
      // Read at each mount: the hosted page gets its return URL from the session.
      get returnUrl() {
        return options.returnUrl ?? location.href.replace(/#.*$/, "");
      },
    };
    const load = () => this.load();
    const parts = { store, fail, settings, load, onResult: this.#onResult };
    this.fields = new Fields(parts, options.appearance ?? {});
    this.#attempts = new Attempts({
      store,
      fail,
      ask: this.#api.confirm,
      succeed: (verdict) => this.#succeed(verdict),
      refresh: () => this.#refreshed(),
      renew: () => this.fields.renew(),
    });
    if (options.signal?.aborted) this.destroy();
    else options.signal?.addEventListener("abort", () => this.destroy(), { once: true });
  }

  /** Single-flight: a second call returns the pending read. */
  load(): Promise<LoadResult> {
    if (this.store.state === "destroyed") return Promise.resolve({ ok: false, error: this.#fail("destroyed") });
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  mount(target: Element | string): Promise<LoadResult> {
    const refuse = async (code: "destroyed" | "invalid_target"): Promise<LoadResult> => ({
      ok: false,
      error: this.#fail(code),
    });
    if (this.store.state === "destroyed") return refuse("destroyed");
    const element = typeof target === "string" ? find(target) : target;
    if (!(element instanceof Element)) return refuse("invalid_target");
    const mounting = this.fields.mountAt(element);
    if (mounting !== undefined) return mounting;
    if (this.fields.isPlaced) this.unmount();
    return this.fields.mount(element);
  }

  unmount(): void {
    this.fields.leave();
    if (this.#attempts.isRunning) this.#attempts.report({ status: "unknown" });
    else if (this.store.state === "ready" || this.store.state === "loading") this.store.move("idle");
  }

  destroy(): void {
    if (this.store.state === "destroyed") return;
    this.fields.leave();
    this.store.move("destroyed");
    this.#life.abort();
    this.store.silence();
  }

  confirm(): Promise<ConfirmResult> {
    const isPaying = this.#attempts.isRunning;
    const known = this.#known();
    if (known && !(isPaying && known.type === "processing")) return Promise.resolve(known);
    if (this.fields.surface && (this.store.state === "ready" || isPaying)) {
      // The surface is read late: the attempt first reads the session, which may replace it.
      return this.#attempts.start(() => this.fields.surface?.submit());
    }
    return Promise.resolve({ type: "error", error: this.#fail("not_mounted") });
  }

  async #load(): Promise<LoadResult> {
    const { store } = this;
    if (store.state === "idle" || store.state === "failed") store.move("loading");
    this.#texts ??= this.#loadTexts();
    const [answer] = await Promise.all([this.#read(), this.#texts]);
    if (store.state === "destroyed") return { ok: false, error: this.#fail("destroyed") };
    if (!answer.ok) {
      // Created again with the loaded texts.
      const error = this.#fail(answer.error.code, answer.error);
      if (store.state === "loading") store.move("failed");
      store.emit("error", error);
      return { ok: false, error };
    }
    if (!this.#isWatched) {
      const [read, verify] = [() => this.#read(), () => this.#attempts.verify()];
      watchSession(store, this.#life.signal, read, verify);
    }
    this.#isWatched = true;
    if (store.state === "loading" && !this.fields.isPlaced) store.move("idle");
    return { ok: true, session: answer.value.view };
  }

  async #read(): Promise<ApiAnswer<ReadSession>> {
    const answer = await this.#api.resolve();
    if (answer.ok && this.store.state !== "destroyed") this.#apply(answer.value);
    return answer;
  }

  /** Applies the session's status. "open" changes nothing, since an attempt may be in progress. */
  #apply({ view, render }: ReadSession): void {
    const { store } = this;
    store.session = view;
    store.render = render ?? store.render;
    this.#isEmptied = view.status === "open" && this.fields.replaceEnded();
    switch (view.status) {
      case "completed":
        this.#succeed({ paymentId: view.payment?.id ?? "", paymentStatus: view.payment?.status ?? "succeeded" });
        break;
      case "processing":
        store.move("processing");
        break;
      case "expired":
      case "canceled":
        store.move(view.status);
        this.fields.clear();
        break;
    }
  }

  #succeed({ paymentId, paymentStatus }: { paymentId: string; paymentStatus: string }): void {
    const { store } = this;
    if (store.state === "succeeded" || store.state === "destroyed") return;
    if (store.session) {
      store.session = { ...store.session, status: "completed", payment: { id: paymentId, status: paymentStatus } };
    }
    store.move("succeeded");
    this.fields.clear();
    store.emit("succeeded", { paymentId });
  }

  /** The payment's result by the state, if known. */
  #known(): ConfirmResult | undefined {
    const { store } = this;
    const session = store.state === "processing" && runningSession(store.session);
    return session ? { type: "processing", session } : endedResult({ store, fail: this.#fail });
  }

  /** Reads the session before an attempt. @returns undefined if it is open */
  async #refreshed(): Promise<ConfirmResult | undefined> {
    const { store } = this;
    const answer = await this.#read();
    const known = this.#known();
    if (known) return known;
    if (answer.ok) return this.#isEmptied ? { type: "error", error: this.#fail("incomplete") } : undefined;
    store.move(answer.error.retryable ? "ready" : "failed");
    return { type: "error", error: answer.error };
  }

  readonly #onResult = (result: Parameters<Attempts["report"]>[0]) => this.#attempts.report(result);
}

function find(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}
