// PostgreSQL's settings in the manifests fit its container: caches and connections its memory, the log its volume.
import assert from "node:assert/strict";
import { objectNamed, renderOverlay, testRendered } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

const test = suite("memory and log of the manifests", { timeoutMs: 120_000 });

/** A server's settings and resources, in bytes. */
interface Server {
  readonly settings: Readonly<Record<string, string>>;
  readonly memory: number;
  /** Volume of the log. */
  readonly volume: number;
  /** Share of that volume for the log; the rest is for data, or for growth until an operator reacts. */
  readonly shareOfLog: number;
}

const servers: Readonly<Record<string, () => Server>> = {
  "components/cloudnative-pg": () => {
    const { spec } = objectNamed(renderOverlay("production"), "Cluster", "postgres");
    const volume = bytesOf(spec.walStorage.size);
    const memory = bytesOf(spec.resources.limits.memory);
    return { settings: spec.postgresql.parameters, memory, volume, shareOfLog: 0.8 };
  },
  "components/postgres": () => {
    const { spec } = objectNamed(renderOverlay("local"), "StatefulSet", "postgres");
    const [container] = spec.template.spec.containers;
    const args: string[] = container.args;
    const settings = Object.fromEntries(args.map((arg) => arg.replace(/^-c/, "").split("=", 2)));
    const volume = bytesOf(spec.volumeClaimTemplates[0].spec.resources.requests.storage);
    return { settings, memory: bytesOf(container.resources.limits.memory), volume, shareOfLog: 0.5 };
  },
};

/** An idle connection after some statements has about two; named statements and their plans add some. */
const connectionBytes = 4 * 2 ** 20;
/** On a small machine, with few statements. */
const smallConnectionBytes = 2 * 2 ** 20;
const autovacuumWorkers = 3;

for (const [name, serverOf] of Object.entries(servers)) {
  testRendered(test, `${name}: caches, connections and autovacuum at their maximum fit the memory`, () => {
    const { settings, memory } = serverOf();
    const of = (setting: string) => bytesOf(settings[setting] ?? assert.fail(`${setting} is not set`));
    const share = of("shared_buffers") / memory;
    assert.ok(share >= 0.2 && share <= 0.4, `shared_buffers are ${share} of the memory`);
    assert.ok(of("effective_cache_size") >= of("shared_buffers") && of("effective_cache_size") <= 0.8 * memory);
    const each = (memory >= 4 * 2 ** 30 ? connectionBytes : smallConnectionBytes) + of("work_mem");
    const connections = Number(settings.max_connections) * each;
    const most = of("shared_buffers") + connections + autovacuumWorkers * of("maintenance_work_mem");
    assert.ok(most <= memory, `${most / 2 ** 20} MiB for ${memory / 2 ** 20}`);
  });

  testRendered(
    test,
    `${name}: the log between checkpoints and what a standby that is away keeps fit their volume`,
    () => {
      const { settings, volume, shareOfLog } = serverOf();
      const of = (setting: string) => bytesOf(settings[setting] ?? assert.fail(`${setting} is not set`));
      // 0 and -1 would mean no limit.
      assert.ok(of("max_slot_wal_keep_size") > 0);
      const most = of("max_wal_size") + of("max_slot_wal_keep_size");
      assert.ok(most <= shareOfLog * volume, `${most / 2 ** 30} GiB for ${shareOfLog} of ${volume / 2 ** 30}`);
    },
  );
}

/** Sizes of Kubernetes and PostgreSQL, such as `8Gi` and `256MB`; PostgreSQL's units are powers of 1024 too. */
function bytesOf(size: string): number {
  const [, number = "", unit = ""] = /^(\d+)([KMGT])(?:i|B)$/.exec(size) ?? assert.fail(`${size} is no size`);
  return Number(number) * 1024 ** ("KMGT".indexOf(unit) + 1);
}

test.run();
