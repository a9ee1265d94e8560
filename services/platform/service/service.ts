// Starts a service in order: database, schema, clock, broker, RPC port, jobs. It stops in reverse: nothing new is
// accepted, active work finishes, then resources close.
import type { Database } from "#platform/database/database.ts";
import { databaseOf, type PoolOptions } from "#platform/database/pool.ts";
import { awaitSchema } from "#platform/database/schema-state.ts";
import { assertSameClock, clockJob, syncClock } from "#platform/database/sync-clock.ts";
import { brokerOf } from "#platform/events/connection.ts";
import { EventBus, type Listener } from "#platform/events/event-bus.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { EventSeal } from "#platform/events/event-keys.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { outboxJobs } from "#platform/events/relay.ts";
import { ConfigError, type ConfigValues } from "#platform/process/config.ts";
import type { Drain, Host } from "#platform/process/host.ts";
import { type JobContext, JobWatch, startJobs } from "#platform/process/job.ts";
import { type RpcService, serveRpc } from "#platform/rpc/server.ts";
import { type TeamSource, Teams } from "#platform/rpc/teams.ts";
import type { OpenedConfig } from "#platform/secrets/open-keys.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import type { Source } from "../../services.ts";
import { foreignKeyOf, recordKey } from "./encryption-keys.ts";
import { operatorRpc } from "./operator-rpc.ts";
import { Recovery } from "./recovery.ts";
import type { serviceSettings } from "./settings.ts";
import { reportState } from "./state-metrics.ts";

type ServiceConfig = OpenedConfig<ConfigValues<typeof serviceSettings>>;

/** Resources of every service. */
export interface ServiceBase<D extends Database> {
  readonly db: D;
  readonly log: Log;
  readonly bus: EventBus;
  readonly outbox: Outbox;
  readonly vault: Vault;
  readonly recovery: Recovery;
  readonly hostProcess: Host;
}

export interface ServiceParts {
  readonly rpc: readonly RpcService[];
  /** Where internal teams and their tokens come from; absent: none may call. */
  readonly teams?: TeamSource | undefined;
  /** In addition to the platform's jobs. */
  readonly jobs: readonly JobContext[];
  readonly consumers?: readonly Consumer[];
  readonly listeners?: readonly Listener[];
  /** Whether the process can do its main job; health checks also test that the database accepts writes. */
  readonly works?: () => boolean;
  /** Finishes other active work, once no calls arrive. */
  readonly finish?: () => Promise<void>;
  /** Closes resources after calls, jobs and consumers have ended. */
  readonly close?: () => Promise<void> | void;
}

export interface RunningService {
  readonly port: number;
  ready(): Promise<boolean>;
  /** Asks callers to leave, and still answers them. */
  leave(): void;
  stop(drain?: Drain): Promise<void>;
}

/** @param options.open opens its database @param options.build called when the database has this release's schema */
export async function startService<D extends Database>(options: {
  readonly name: Source;
  readonly config: ServiceConfig;
  readonly open: (pool: PoolOptions) => Promise<D>;
  readonly build: (base: ServiceBase<D>) => ServiceParts | Promise<ServiceParts>;
  readonly hostProcess: Host;
}): Promise<RunningService> {
  const { name, config, hostProcess } = options;
  const log = createLog(name, config.LOG_LEVEL);
  const db = await options.open({ ...databaseOf(config), name, log });
  let bus: EventBus | undefined;
  let parts: ServiceParts | undefined;
  const close = async () => {
    await bus?.close();
    await parts?.close?.();
    await db.close();
  };
  try {
    await awaitSchema(db, name, log);
    await assertSameClock(db);
    await syncClock(db, log, hostProcess.registry);
    const vault = new Vault(config.ENCRYPTION_KEYS);
    const foreign = await foreignKeyOf(db, vault, name);
    if (foreign !== undefined) {
      throw new ConfigError(`ENCRYPTION_KEYS: ${foreign}. Put the former keys back: docs/production.md, "Secrets"`);
    }
    await recordKey(db, vault.currentKeyId);
    const seal = new EventSeal(config.ENCRYPTION_KEYS);
    bus = new EventBus({
      broker: brokerOf(config),
      keys: config.EVENT_KEYS_FILE,
      namespace: config.NATS_NAMESPACE,
      registry: hostProcess.registry,
      tracer: hostProcess.tracing?.tracer,
      ...{ seal, name, log },
    });
    const outbox = new Outbox({ namespace: config.NATS_NAMESPACE, source: name });
    const recovery = await Recovery.begin({ service: name, db, bus, seal, log, registry: hostProcess.registry });
    parts = await options.build({ db, log, bus, outbox, vault, recovery, hostProcess });
    return await serve({ db, log, bus, outbox, vault, recovery, hostProcess }, options, parts, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function serve<D extends Database>(
  { db, log, bus, outbox, vault, recovery, hostProcess }: ServiceBase<D>,
  { name, config }: { readonly name: Source; readonly config: ServiceConfig },
  parts: ServiceParts,
  close: () => Promise<void>,
): Promise<RunningService> {
  const { registry } = hostProcess;
  const watch = new JobWatch(registry);
  const sources = { service: name, db, bus, keyId: vault.currentKeyId, watch };
  const teams = new Teams(parts.teams);
  const { RPC_TLS_CERT_FILE: cert, RPC_TLS_KEY_FILE: key } = config;
  const server = await serveRpc({
    port: config.PORT,
    host: config.HOST,
    trusted: config.RPC_CALLERS_FILE,
    rpc: [...parts.rpc, ...operatorRpc(sources, recovery)],
    works: async () => (parts.works?.() ?? true) && (await db.takesWrites()),
    ping: async () => void (await db.rows("select 1")),
    // Settings have both or neither (keyPairProblems).
    ...(cert !== undefined && key !== undefined && { tls: { cert, key } }),
    ...{ log, hostProcess, name, teams },
  });
  reportState(registry, sources);
  const relay = {
    replicas: config.NATS_REPLICAS,
    gib: config.NATS_STREAM_GIB,
    ackWaitSeconds: config.EVENT_ACK_WAIT_SECONDS,
    mayPublish: () => recovery.mayPublish(),
    ...{ log, registry },
  };
  const own = [...teams.jobs, ...outboxJobs(db, bus, outbox, relay), recovery.job, clockJob(db, log, registry)];
  const jobs = startJobs([...own, ...parts.jobs], log, watch);
  for (const consumer of parts.consumers ?? []) bus.consume(consumer);
  for (const listener of parts.listeners ?? []) bus.listen(listener);
  return {
    port: server.port,
    ready: () => server.ready(),
    leave: () => server.leave(),
    stop: async (drain) => {
      await server.close(drain);
      await parts.finish?.();
      await jobs.stop();
      await close();
    },
  };
}
