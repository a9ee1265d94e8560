// Database connections of an installation: all replicas of a rollout at their maximum, and other logins, fit the
// server; with a pooler the services fit the pooler, and the pooler fits the server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sources } from "../../services/services.ts";
import type { KubeObject } from "../harness/files/kube-schema.ts";
import { objectNamed, ofKind, renderOverlay, renderWith, testRendered } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("connections of the manifests", { timeoutMs: 120_000 });

/** PostgreSQL's default; reserved for superusers. */
const superuserReserved = 3;
const databases = 4;
/** Other logins than the services, at their maximum. */
const otherLogins = {
  migrate: databases,
  // The journal check and re-encryption run one at a time, with the default pool.
  "a command of the operator's": 16,
  "the manager and the exporter of the instance, a backup, a person": 8,
};
/** Its two pools (services/simulator/store/pool.ts); it has one replica. */
const ofSimulator = 18;

type Objects = readonly KubeObject[];

/**
 * Replicas of a service at its maximum during a rollout: starting ones, and stopping ones that still have connections.
 */
function replicasAtOnce(objects: Objects, service: string): number {
  const scaled = objects.find(
    ({ kind, metadata }) => ["HorizontalPodAutoscaler", "ScaledObject"].includes(kind) && metadata.name === service,
  );
  const isAlone = objects.some(({ kind, metadata }) => kind === "Deployment" && metadata.name === service);
  const { replicas, strategy, minReadySeconds, template } = objectNamed(
    objects,
    "Deployment",
    isAlone ? service : "one",
  ).spec;
  const most: number = scaled?.spec.maxReplicas ?? scaled?.spec.maxReplicaCount ?? replicas ?? assert.fail(service);
  const { LAME_DUCK_SECONDS, DRAIN_SECONDS } = objectNamed(objects, "ConfigMap", "tollbooth-common").data;
  const { preStop } = template.spec.containers[0].lifecycle;
  const stopSeconds = preStop.sleep.seconds + Number(LAME_DUCK_SECONDS) + Number(DRAIN_SECONDS);
  // One stops for each that has been ready for minReadySeconds.
  const stopping = Math.ceil(stopSeconds / minReadySeconds) * strategy.rollingUpdate.maxSurge;
  return most + strategy.rollingUpdate.maxSurge + Math.min(most, stopping);
}

function ofServices(objects: Objects): number {
  const each = Number(objectNamed(objects, "ConfigMap", "tollbooth-services").data.DATABASE_CONNECTIONS);
  assert.ok(each >= 4);
  const replicas = sources.map((name) => replicasAtOnce(objects, name));
  return each * replicas.reduce((sum, next) => sum + next, 0);
}

const ofOthers = Object.values(otherLogins).reduce((sum, next) => sum + next, 0);

testRendered(test, "production: all replicas at their maximum in a rollout and all other logins fit the server", () => {
  const objects = renderOverlay("production");
  assert.deepEqual(ofKind(objects, "Pooler"), []);
  const { max_connections } = objectNamed(objects, "Cluster", "postgres").spec.postgresql.parameters;
  fits(ofServices(objects) + ofOthers, Number(max_connections) - superuserReserved);
});

const fitsOneServer = (overlay: "local" | "small", more: number) => {
  const objects = renderOverlay(overlay);
  const args: string[] = objectNamed(objects, "StatefulSet", "postgres").spec.template.spec.containers[0].args;
  const max = args.map((arg) => /^-cmax_connections=(\d+)$/.exec(arg)?.[1]).find(Boolean);
  fits(ofServices(objects) + ofOthers + more, Number(max) - superuserReserved);
};

testRendered(test, "local: the same, with the simulator's", () => fitsOneServer("local", ofSimulator));
// Twice as many replicas, in case one is not enough.
testRendered(test, "small: the same for its pod, with room for a second one", () =>
  fitsOneServer("small", ofServices(renderOverlay("small"))),
);

testRendered(
  test,
  "with the pooler: the services fit one PgBouncer, and twice the PgBouncers fit the server",
  async () => {
    const objects = await renderWith("overlays/production", ["pooler"]);
    const { instances, deploymentStrategy, pgbouncer } = objectNamed(objects, "Pooler", "postgres-pooler").spec;
    const { default_pool_size, max_client_conn, reserve_pool_size = "0" } = pgbouncer.parameters;
    fits(ofServices(objects), Number(max_client_conn));
    // A rollout has all new and all old poolers. One more pool is for authentication queries.
    const atOnce = 2 * instances + deploymentStrategy.rollingUpdate.maxSurge;
    const ofPoolers = atOnce * (databases + 1) * (Number(default_pool_size) + Number(reserve_pool_size));
    const { max_connections } = objectNamed(objects, "Cluster", "postgres").spec.postgresql.parameters;
    fits(ofPoolers + ofOthers, Number(max_connections) - superuserReserved);
  },
);

testRendered(
  test,
  "the pooler supports transactions, named statements and the startup parameters of our connections",
  async () => {
    const objects = await renderWith("overlays/production", ["pooler"]);
    const { pgbouncer, cluster, type } = objectNamed(objects, "Pooler", "postgres-pooler").spec;
    assert.deepEqual([pgbouncer.poolMode, cluster.name, type], ["transaction", "postgres", "rw"]);
    const { parameters } = pgbouncer;
    assert.ok(Number(parameters.max_prepared_statements) > 0);
    // The startup parameters of database/pool.ts; `query_timeout` is the client's own and not sent.
    const source = readFileSync(join(root, "services/platform/database/pool.ts"), "utf8");
    const timeouts = [...source.matchAll(/^ +((?!query_)\w+_timeout): /gm)].map(([, name = ""]) => name);
    assert.equal(timeouts.length, 2);
    assert.deepEqual(parameters.ignore_startup_parameters.split(",").sort(), timeouts.sort());
    // The server's limit precedes the pooler's, which precedes the client's (two seconds later).
    const [, limitMs = ""] =
      /statementMsMaxDefault = ([\d_]+);/.exec(source) ?? assert.fail("what is the limit of a statement?");
    const limit = Number(limitMs.replace("_", "")) / 1000;
    const ofPooler = Number(parameters.query_timeout);
    assert.ok(ofPooler > limit && ofPooler < limit + 2);
    assert.ok(Number(parameters.query_wait_timeout) < limit);
    assert.equal(parameters.client_tls_sslmode, "require");
    const { serverAltDNSNames } = objectNamed(objects, "Cluster", "postgres").spec.certificates;
    assert.ok(serverAltDNSNames.includes("postgres-pooler"), "the certificate bears the name that services ask for");
  },
);

function fits(sum: number, room: number): void {
  assert.ok(room > 0 && sum <= room, `${sum} connections for ${room}`);
}

test.run();
