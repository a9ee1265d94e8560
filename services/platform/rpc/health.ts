// grpc.health.v1 of a process: SERVING while its main job works, NOT_SERVING when something that it needs for it is
// away, or it drains. Whether a process takes calls is another question (RpcServer.ready): one that can only read still
// answers reads. Anybody may ask without a token, so what an answer costs does not grow with how many ask.
import { EventEmitter } from "node:events";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "#proto/grpc/health/v1/health_pb.ts";

// A watcher sees a change at most this much later than who asks.
const watchEveryMs = 1_000;
// An answer is this old at most; a prober's own pause is longer.
const keepMs = 250;
// Each takes some 20 KB for as long as it likes. Ten times the replicas of a large installation.
const watchersMax = 1_000;

export class HealthState {
  readonly #names: ReadonlySet<string>;
  readonly #works: () => Promise<boolean>;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #draining = false;
  #watchers = 0;
  #requests: Promise<boolean> | undefined;

  /** @param works asked for all who want to know within a moment; a throw counts as no. */
  constructor(services: readonly DescService[], works: () => Promise<boolean>) {
    this.#names = new Set(["", ...services.map((s) => s.typeName)]);
    this.#works = works;
  }

  /** From now on NOT_SERVING. */
  shutdown(): void {
    this.#draining = true;
    this.#events.emit("drain");
  }

  readonly routes = (router: ConnectRouter): void => {
    router.service(Health, {
      check: async ({ service }) => {
        if (!this.#names.has(service)) throw new ConnectError(`unknown service ${service}`, Code.NotFound);
        return { status: await this.#status() };
      },
      watch: (request, context) => this.#watch(request.service, context.signal),
    });
  };

  async #status(): Promise<Status> {
    const works = !this.#draining && (await this.#sharedAnswer());
    return works && !this.#draining ? Status.SERVING : Status.NOT_SERVING;
  }

  /** One question is under way at most: what is away keeps one of the process's connections waiting, and not all. */
  #sharedAnswer(): Promise<boolean> {
    this.#requests ??= this.#works()
      .catch(() => false)
      .finally(() => setTimeout(() => (this.#requests = undefined), keepMs).unref());
    return this.#requests;
  }

  async *#watch(service: string, signal: AbortSignal): AsyncGenerator<{ status: Status }> {
    if (this.#watchers >= watchersMax) throw new ConnectError("too many are watching", Code.ResourceExhausted);
    this.#watchers += 1;
    try {
      for (let last: Status | undefined; !signal.aborted; await this.#pause(signal)) {
        const now = this.#names.has(service) ? await this.#status() : Status.SERVICE_UNKNOWN;
        if (now !== last) yield { status: now };
        last = now;
      }
    } finally {
      this.#watchers -= 1;
    }
  }

  /** Until it is time to look again, the process drains, or the watcher leaves. */
  async #pause(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#events.off("drain", end);
        resolve();
      };
      const timer = setTimeout(end, watchEveryMs);
      signal.addEventListener("abort", end, { once: true });
      this.#events.once("drain", end);
      if (signal.aborted) end();
    });
  }
}
