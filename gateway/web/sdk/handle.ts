// A handle: one session on one page. Reads it, mounts the surface that its render names, pays, and follows it until it ends. Nothing
// here throws; what goes wrong is a value or an event.
import { type Answer, type CheckoutApi, checkoutApi } from "./api.ts";
import { Attempts, ended } from "./attempt.ts";
import { Board } from "./board.ts";
import type { CheckoutError, CheckoutHandle, ConfirmResult, CreateOptions, LoadResult, TestCard } from "./contract.ts";
import { failer } from "./failure.ts";
import { type ReadSession, running } from "./session.ts";
import { surfaceFor } from "./surfaces/choose.ts";
import type { MountedSurface } from "./surfaces/surface.ts";
import { type Watch, watchSession } from "./watch.ts";

const secretFormat = /^cs_secret_([0-9a-z]{26})_[A-Za-z0-9_-]{43}$/;

/** @param scriptOrigin where this script came from: the API's origin, unless told otherwise */
export function createHandle(options: CreateOptions, scriptOrigin: string): CheckoutHandle {
  const fail = failer(options.messages);
  const board = new Board();
  const life = new AbortController();
  const locale = options.locale ?? (document.documentElement.lang || navigator.language);
  let api: CheckoutApi | undefined;
  let loading: Promise<LoadResult> | undefined;
  let place: Element | undefined;
  let container: HTMLElement | undefined;
  let surface: MountedSurface | undefined;
  let mounting: Promise<LoadResult> | undefined;
  let appearance = options.appearance ?? {};
  let testCards: readonly TestCard[] = [];
  let watch: Watch | undefined;
  let generation = 0;

  const open = async (): Promise<CheckoutApi | CheckoutError> => {
    if (api) return api;
    const secret = await secretOf(options);
    if (secret.startsWith("sk_")) return refuseKey();
    const sessionId = secretFormat.exec(secret)?.[1];
    if (!sessionId) return fail("invalid_secret");
    const origin = options.apiOrigin ?? scriptOrigin;
    api = checkoutApi({ origin, sessionId: `cs_${sessionId}`, secret, locale, fail, signal: life.signal });
    return api;
  };
  const refuseKey = () => {
    console.error("Tollbooth: an API key must never be in a browser. Use the session_secret, and roll that key now.");
    return fail("api_key_in_browser");
  };

  const read = async (): Promise<Answer<ReadSession>> => {
    const opened = await open();
    if ("code" in opened) return { ok: false, error: opened, retryAfterMs: 0 };
    const answer = await opened.resolve();
    if (answer.ok && board.state !== "destroyed") apply(answer.value);
    return answer;
  };
  /** What the session says moves the handle; "open" alone moves nothing: an attempt may be under way. */
  const apply = ({ view, render }: ReadSession) => {
    board.session = view;
    board.render = render ?? board.render;
    switch (view.status) {
      case "completed":
        return succeed({ paymentId: view.payment?.id ?? "", paymentStatus: view.payment?.status ?? "succeeded" });
      case "processing":
        return board.move("processing");
      case "expired":
      case "canceled":
        board.move(view.status);
        return take();
    }
  };
  const succeed = ({ paymentId, paymentStatus }: { paymentId: string; paymentStatus: string }) => {
    if (board.state === "succeeded" || board.state === "destroyed") return;
    if (board.session) {
      board.session = { ...board.session, status: "completed", payment: { id: paymentId, status: paymentStatus } };
    }
    board.move("succeeded");
    take();
    board.tell("succeeded", { paymentId });
  };
  const take = () => {
    surface?.unmount();
    surface = undefined;
    container?.remove();
    container = undefined;
    testCards = [];
  };

  const attempts = new Attempts({
    board,
    fail,
    api: {
      resolve: () => read(),
      confirm: async () => {
        const opened = await open();
        return "code" in opened ? { ok: false, error: opened, retryAfterMs: 0 } : opened.confirm();
      },
    },
    succeed,
    async refresh(): Promise<ConfirmResult | undefined> {
      const answer = await read();
      const end = ended({ board, fail });
      if (end) return end;
      const session = running(board.session);
      if (board.state === "processing" && session) return { type: "processing", session };
      if (answer.ok) return undefined;
      board.move(answer.error.retryable ? "ready" : "failed");
      return { type: "error", error: answer.error };
    },
    renew() {
      const target = place;
      take();
      board.render = undefined; // read anew: the processor may have changed what it wants
      board.move("loading");
      if (target) mounting = put(target);
    },
  });

  const load = (): Promise<LoadResult> => {
    if (board.state === "destroyed") return Promise.resolve({ ok: false, error: fail("destroyed") });
    loading ??= firstRead().finally(() => (loading = undefined));
    return loading;
  };
  const firstRead = async (): Promise<LoadResult> => {
    if (board.state === "idle" || board.state === "failed") board.move("loading");
    const answer = await read();
    if (board.state === "destroyed") return { ok: false, error: fail("destroyed") };
    if (!answer.ok) {
      if (board.state === "loading") board.move("failed");
      board.tellError(answer.error);
      return { ok: false, error: answer.error };
    }
    watch ??= watchSession(board, read, () => attempts.verify());
    if (board.state === "loading" && !place) board.move("idle");
    return { ok: true, session: answer.value.view };
  };

  /** Resolves when the fields can be used, or with why they cannot. */
  const put = async (target: Element): Promise<LoadResult> => {
    const own = ++generation;
    place = target;
    if (["idle", "ready", "failed"].includes(board.state)) board.move("loading");
    const loaded: LoadResult =
      board.session && board.render && board.state !== "failed" ? { ok: true, session: board.session } : await load();
    if (own !== generation || !loaded.ok || !board.isLive) return loaded;
    if (loaded.session.status !== "open") return loaded;
    return await new Promise((resolve) => {
      const answer = (error?: CheckoutError) => {
        if (!error) return resolve({ ok: true, session: board.session ?? loaded.session });
        board.move("failed");
        board.tellError(error);
        resolve({ ok: false, error });
      };
      const mountSurface = board.render && surfaceFor(board.render);
      if (!mountSurface) return answer(fail("unsupported_surface"));
      const isMine = () => own === generation;
      container = document.createElement("div");
      target.append(container);
      const [box, { title = "Card details", nonce }] = [container, options];
      const returnUrl = options.returnUrl ?? location.href.replace(/#.*$/, "");
      surface = mountSurface(
        box,
        {
          ready(cards) {
            if (!isMine()) return;
            testCards = cards;
            if (board.state === "loading") board.move("ready");
            const session = running(loaded.session);
            if (session) board.tell("ready", { session });
            answer();
          },
          change: (change) => isMine() && board.tell("change", change),
          submitRequested: () => isMine() && board.tell("submit_requested", {}),
          result(result) {
            if (!isMine()) return;
            answer(); // fields that find an attempt under way are there, too
            attempts.say(result);
          },
          resize: (height) => isMine() && board.tell("resize", { height }),
          failed(code) {
            if (!isMine()) return;
            take();
            answer(fail(code));
          },
        },
        { appearance, locale, title, returnUrl, nonce },
      );
      // Whoever takes the fields away answers this mount.
      const off = board.on("state", () => {
        if (isMine() && board.state !== "destroyed" && board.isLive) return;
        off();
        resolve({ ok: true, session: board.session ?? loaded.session });
      });
    });
  };

  const unmount = () => {
    generation += 1;
    place = undefined;
    mounting = undefined;
    take();
    if (attempts.isRunning) attempts.say({ status: "unknown" });
    else if (board.state === "ready" || board.state === "loading") board.move("idle");
  };
  const destroy = () => {
    if (board.state === "destroyed") return;
    generation += 1;
    place = undefined;
    take();
    watch?.stop();
    board.move("destroyed");
    life.abort();
    board.silence();
  };
  if (options.signal?.aborted) destroy();
  else options.signal?.addEventListener("abort", destroy, { once: true });

  return {
    load,
    mount(target) {
      if (board.state === "destroyed") return Promise.resolve({ ok: false, error: fail("destroyed") });
      const element = typeof target === "string" ? find(target) : target;
      if (!(element instanceof Element)) return Promise.resolve({ ok: false, error: fail("invalid_target") });
      if (element === place && mounting && board.state !== "failed") return mounting;
      if (place) unmount();
      mounting = put(element);
      return mounting;
    },
    unmount,
    destroy,
    confirm() {
      const end = ended({ board, fail });
      if (end) return Promise.resolve(end);
      const session = running(board.session);
      if (board.state === "processing" && session && !attempts.isRunning) {
        return Promise.resolve({ type: "processing", session });
      }
      const mounted = surface;
      const isPayable = board.state === "ready" || attempts.isRunning;
      if (!mounted || !isPayable) return Promise.resolve({ type: "error", error: fail("not_mounted") });
      return attempts.start(() => mounted.submit());
    },
    refresh: load,
    setAppearance(next) {
      appearance = { ...appearance, ...next };
      surface?.setAppearance(appearance);
    },
    focus: () => surface?.focus(),
    fillTestCard: (number) => surface?.fill?.(number),
    get state() {
      return board.state;
    },
    get session() {
      return board.session;
    },
    get testCards() {
      return testCards;
    },
    on: (event, listener) => board.on(event, listener),
  };
}

async function secretOf({ sessionSecret }: CreateOptions): Promise<string> {
  try {
    return String(typeof sessionSecret === "function" ? await sessionSecret() : sessionSecret);
  } catch {
    return "";
  }
}

function find(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}
