// grpc.health.v1: SERVING while the process can do its main job, NOT_SERVING when a dependency is unavailable or it
// drains. Readiness differs (RpcServer.ready): a process that can only read still answers reads. Checks need no token,
// so their cost must not grow with their number.
import { setTimeout as pause } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "#proto/grpc/health/v1/health_pb.ts";

// The longest delay until a watcher sees a change.
const watchEveryMs = 1_000;
// Answers are cached this long; probers pause longer.
const keepMs = 250;
// Each watcher takes about 20 KB without a time limit. Ten times the replicas of a large installation.
const watchersMax = 1_000;

export class HealthState {
  readonly #names: ReadonlySet<string>;
  readonly #works: () => Promise<boolean>;
  readonly #draining = new AbortController();
  #watchers = 0;
  #requests: Promise<boolean> | undefined;

  /** @param works shared by concurrent checks; a throw counts as false */
  constructor(services: readonly DescService[], works: () => Promise<boolean>) {
    this.#names = new Set(["", ...services.map((s) => s.typeName)]);
    this.#works = works;
  }

  shutdown(): void {
    this.#draining.abort();
  }

  readonly rpc: Partial<ServiceImpl<typeof Health>> = {
    check: async ({ service }) => {
      if (!this.#names.has(service)) throw new ConnectError(`unknown service ${service}`, Code.NotFound);
      return { status: await this.#status() };
    },
    watch: ({ service }, { signal }) => this.#watch(service, signal),
  };

  async #status(): Promise<Status> {
    const works = !this.#draining.signal.aborted && (await this.#sharedAnswer());
    return works && !this.#draining.signal.aborted ? Status.SERVING : Status.NOT_SERVING;
  }

  /** At most one check is active: a hanging dependency blocks one connection of the process, not all. */
  #sharedAnswer(): Promise<boolean> {
    this.#requests ??= this.#works()
      .catch(() => false)
      .finally(() => setTimeout(() => (this.#requests = undefined), keepMs).unref());
    return this.#requests;
  }

  async *#watch(service: string, ended: AbortSignal): AsyncGenerator<{ status: Status }> {
    if (this.#watchers >= watchersMax) throw new ConnectError("too many watchers", Code.ResourceExhausted);
    this.#watchers += 1;
    const changed = AbortSignal.any([ended, this.#draining.signal]);
    try {
      for (let last: Status | undefined; !ended.aborted; ) {
        const now = this.#names.has(service) ? await this.#status() : Status.SERVICE_UNKNOWN;
        if (now !== last) yield { status: now };
        last = now;
        const signal = last === Status.SERVING ? changed : ended;
        await pause(watchEveryMs, undefined, { signal }).catch(() => {});
      }
    } finally {
      this.#watchers -= 1;
    }
  }
}
