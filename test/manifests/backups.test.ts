// Backups of production and of a small installation, and restore: content, schedule, retention and key, and that the
// runbooks' commands match.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { membersOf } from "#platform/values/unchecked.ts";
import { type KubeObject, schemaProblems } from "../harness/files/kube-schema.ts";
import { objectNamed, ofKind, renderOverlay, renderWith, testRendered, workloads } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("backups of the manifests", { timeoutMs: 120_000 });
const page = readFileSync(join(root, "deploy/runbooks/restore-postgres.md"), "utf8");
const pluginName = "barman-cloud.cloudnative-pg.io";

const smallPage = readFileSync(join(root, "deploy/runbooks/restore-small.md"), "utf8");

const specOf = (objects: readonly KubeObject[], kind: string) => objectNamed(objects, kind, "postgres").spec;

testRendered(test, "production archives the log continuously and backs the server up every night, for 30 days", () => {
  const objects = renderOverlay("production");
  const { plugins, postgresql } = specOf(objects, "Cluster");
  const archiver = plugins.find(({ isWALArchiver }: { isWALArchiver?: boolean }) => isWALArchiver);
  assert.deepEqual([archiver.name, archiver.parameters.barmanObjectName], [pluginName, "postgres"]);
  assert.match(postgresql.parameters.archive_timeout, /^[1-5]min$/, "how much is lost at most");
  const { schedule, cluster, method, pluginConfiguration } = specOf(objects, "ScheduledBackup");
  assert.deepEqual([cluster.name, method, pluginConfiguration.name], ["postgres", "plugin", pluginName]);
  // The first field is seconds: with five fields it would be another time.
  assert.match(schedule, /^0 \d{1,2} \d{1,2} \* \* \*$/);
  assert.match(specOf(objects, "ObjectStore").retentionPolicy, /^[3-9]\dd$/);
});

testRendered(test, "production: the store's key comes from a Secret, and from the store of secrets", () => {
  const objects = renderOverlay("production");
  const { accessKeyId, secretAccessKey } = specOf(objects, "ObjectStore").configuration.s3Credentials;
  const made = ofKind(objects, "ExternalSecret").map(({ spec }) => spec.target.name);
  for (const { name } of [accessKeyId, secretAccessKey]) assert.ok(made.includes(name), name);
  assert.match(specOf(objects, "ObjectStore").configuration.endpointURL, /^https:/);
});

testRendered(
  test,
  "the runbook's restore reads production's archive up to a point in time and writes its own log elsewhere",
  async () => {
    const [, text = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? assert.fail("the page has no file");
    const { resources, patches } = parse(text.replace(/^ {3}/gm, ""));
    assert.deepEqual(resources, ["../my-overlay"]);
    const objects = await renderWith("overlays/production", [], patches);
    const { bootstrap, externalClusters, plugins } = specOf(objects, "Cluster");
    const [source, ...others] = externalClusters;
    assert.deepEqual([bootstrap.recovery.source, others], [source.name, []]);
    const { targetTime } = bootstrap.recovery.recoveryTarget;
    assert.equal(new Date(targetTime).toISOString().replace(".000", ""), targetTime, "in UTC, marked as such");
    // The archive is named after the cluster unless the plugin has another name.
    const [archived] = specOf(renderOverlay("production"), "Cluster").plugins;
    const { barmanObjectName, serverName } = source.plugin.parameters;
    const old = [archived.parameters.barmanObjectName, archived.parameters.serverName ?? "postgres"];
    assert.deepEqual([barmanObjectName, serverName, source.plugin.name], [...old, pluginName]);
    const own = plugins[0].parameters;
    assert.ok(own.serverName && own.serverName !== serverName, "it would refuse the log that is there");
    for (const object of ofKind(objects, "Cluster")) assert.deepEqual(await schemaProblems(object), []);
  },
);

testRendered(test, "the runbook stops and starts every serving process, and first applies none", () => {
  const objects = renderOverlay("production");
  // The operator's pod waits for commands and serves no requests, so it may stay.
  const serving = ofKind(objects, "Deployment").filter(({ spec }) => spec?.template.spec.containers[0].ports);
  const processes = serving.map(({ metadata }) => metadata.name);
  const scaled = [...page.matchAll(/scale deployment ([a-z ]+) --replicas=(\d)/g)];
  assert.deepEqual(
    scaled.map(([, names = "", replicas]) => [names.split(" ").sort().join(), replicas]),
    [
      [processes.sort().join(), "0"],
      // Until the point in time is known to be right, nothing that buyers or merchants reach.
      [processes.filter((name) => !["gateway", "console"].includes(name)).join(), "1"],
      [processes.sort().join(), "3"],
    ],
  );
  // `-l '!app.kubernetes.io/name'` selects the server and its objects, but no processes.
  const first = objects.filter(({ metadata }) => !membersOf(metadata.labels)["app.kubernetes.io/name"]);
  assert.deepEqual(workloads(first), []);
  const kinds = new Set(first.map(({ kind }) => kind));
  for (const kind of ["Cluster", "Database", "ObjectStore", "ExternalSecret"]) assert.ok(kinds.has(kind), kind);
  const ofMigrate = objects.filter(
    ({ metadata }) => membersOf(metadata.labels)["app.kubernetes.io/name"] === "migrate",
  );
  assert.deepEqual(ofMigrate.map(({ kind }) => kind).sort(), ["Job", "ServiceAccount"]);
});

testRendered(test, "production's optional parts fit their schemas, and its image has a digest", async () => {
  const objects = await renderWith("overlays/production", ["pooler"]);
  const problems = await Promise.all(objects.map(schemaProblems));
  assert.deepEqual(problems.flat(), []);
  const [pooler] = ofKind(objects, "Pooler");
  assert.match(pooler?.spec.template.spec.containers[0].image, /@sha256:[0-9a-f]{64}$/);
});

testRendered(test, "small: backs up every night to a volume of its own, with the server's programs and login", () => {
  const objects = renderOverlay("small");
  const { schedule, timeZone, concurrencyPolicy, suspend, jobTemplate } = objectNamed(
    objects,
    "CronJob",
    "postgres-backup",
  ).spec;
  assert.match(schedule, /^\d{1,2} \d{1,2} \* \* \*$/);
  assert.deepEqual([timeZone, concurrencyPolicy, suspend], ["Etc/UTC", "Forbid", undefined]);
  const pod = jobTemplate.spec.template.spec;
  const [container] = pod.containers;
  const [server] = specOf(objects, "StatefulSet").template.spec.containers;
  assert.equal(container.image, server.image, "pg_dump must not be older than the server");
  const env = Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value]));
  assert.ok(Number(env.KEEP_DAYS) >= 7);
  assert.ok(objectNamed(objects, "Service", env.PGHOST ?? ""), "the server that the certificate names");
  const sourceOf = (path = "") => {
    const mount = container.volumeMounts.find(({ mountPath }: { mountPath: string }) =>
      [path, dirname(path)].includes(mountPath),
    );
    return pod.volumes.find(({ name }: { name: string }) => name === mount?.name) ?? assert.fail(path);
  };
  assert.equal(sourceOf(env.PASSWORD_FILE).secret.secretName, "postgres");
  const { secretName, items } = sourceOf(env.PGSSLROOTCERT).secret;
  assert.deepEqual(
    [secretName, items],
    ["postgres-tls", [{ key: "ca.crt", path: "ca.crt" }]],
    "without the server's key",
  );
  const claim = sourceOf(env.BACKUPS).persistentVolumeClaim.claimName;
  assert.deepEqual(objectNamed(objects, "PersistentVolumeClaim", claim).spec.accessModes, ["ReadWriteOnce"]);
  const scripts = objectNamed(objects, "ConfigMap", "postgres-backup-scripts");
  assert.equal(sourceOf("/scripts").configMap.name, scripts.metadata.name);
  assert.deepEqual(Object.keys(scripts.data), ["backup.sh", "restore.sh"]);
});

testRendered(test, "small: the alert about its backups fits its schema", async () => {
  const objects = await renderWith("overlays/small", ["monitoring-backups"]);
  const problems = await Promise.all(objects.map(schemaProblems));
  assert.deepEqual(problems.flat(), []);
  assert.equal(ofKind(objects, "PrometheusRule").length, 1);
});

testRendered(
  test,
  "the small installation's page makes its restore from the backup's job, and names what is there",
  () => {
    const objects = renderOverlay("small");
    const [, script = ""] = /^ +sed "(.+)" backup\.yaml > restore\.yaml$/m.exec(smallPage) ?? assert.fail("no sed");
    const backup = objectNamed(objects, "CronJob", "postgres-backup").spec.jobTemplate;
    // As `kubectl create job --from` does.
    const job = stringify({ apiVersion: "batch/v1", kind: "Job", metadata: { name: "restore" }, spec: backup.spec });
    const name = "2026-01-31T023000Z";
    const restored = parse(execFileSync("sed", [script.replace("$BACKUP", name)], { input: job, encoding: "utf8" }));
    const [container] = restored.spec.template.spec.containers;
    assert.deepEqual([restored.spec.backoffLimit, container.command], [0, ["sh", "/scripts/restore.sh"]]);
    const env = Object.fromEntries(container.env.map((each: Record<string, string>) => [each.name, each.value]));
    assert.equal(env.BACKUP, name);
    const named = [...smallPage.matchAll(/\b(cronjob|statefulset|deployment)[ /]([a-z-]+)/g)];
    assert.ok(named.length > 8);
    for (const [words, kind = "", object = ""] of named) {
      const kinds: Record<string, string> = {
        cronjob: "CronJob",
        statefulset: "StatefulSet",
        deployment: "Deployment",
      };
      assert.ok(objectNamed(objects, kinds[kind] ?? "", object), words);
    }
    const { volumeClaimTemplates, replicas } = specOf(objects, "StatefulSet");
    assert.equal(replicas, 1);
    assert.ok(smallPage.includes(`delete pvc ${volumeClaimTemplates[0].metadata.name}-postgres-0`));
  },
);

test.run();
