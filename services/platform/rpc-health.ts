// grpc.health.v1 of a process: SERVING while its main job works, NOT_SERVING when a dependency is away or it drains.
import { EventEmitter, on } from "node:events";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "#proto/grpc/health/v1/health_pb.ts";

// A watcher sees a change of readiness at most this late.
const watchEveryMs = 1_000;

export class HealthState {
  readonly #names: ReadonlySet<string>;
  readonly #ready: () => Promise<boolean>;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #draining = false;

  /** @param ready asked at every check; a throw counts as not ready. */
  constructor(services: readonly DescService[], ready: () => Promise<boolean> = async () => true) {
    this.#names = new Set(["", ...services.map((s) => s.typeName)]);
    this.#ready = ready;
  }

  /** From now on NOT_SERVING. */
  shutdown(): void {
    this.#draining = true;
    this.#events.emit("change");
  }

  /** Whether health checks are answered with SERVING now. */
  async serving(): Promise<boolean> {
    return !this.#draining && (await this.#ready().catch(() => false));
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
    return (await this.serving()) ? Status.SERVING : Status.NOT_SERVING;
  }

  async *#watch(service: string, signal: AbortSignal): AsyncGenerator<{ status: Status }> {
    const timer = setInterval(() => this.#events.emit("change"), watchEveryMs);
    const changes = on(this.#events, "change", { signal });
    let last: Status | undefined;
    try {
      for (;;) {
        const now = this.#names.has(service) ? await this.#status() : Status.SERVICE_UNKNOWN;
        if (now !== last) yield { status: now };
        last = now;
        await changes.next();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(timer);
    }
  }
}
