// Backups of production and restore: content, schedule, retention and key, and that the runbook's commands match.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { membersOf } from "#platform/values/unchecked.ts";
import { type KubeObject, schemaProblems } from "../harness/files/kube-schema.ts";
import { objectNamed, ofKind, renderOverlay, renderWith, testRendered, workloads } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("backups of the manifests", { timeoutMs: 120_000 });
const page = readFileSync(join(root, "deploy/runbooks/restore-postgres.md"), "utf8");
const pluginName = "barman-cloud.cloudnative-pg.io";

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

test.run();
