// The order in which Argo CD applies an installation, computed from the rendered objects: a hook's needs exist before
// it runs, nothing waits for later objects, and no process starts before migrate has run. kubectl and Flux ignore
// waves.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import type { KubeObject } from "../harness/files/kube-schema.ts";
import { allowedConnections } from "../harness/files/network-graph.ts";
import { eachOverlay, ofKind, renderWith, testRendered, workloads } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

const test = suite("order of the manifests", { timeoutMs: 120_000 });
type Objects = readonly KubeObject[];

const phases = ["PreSync", "Sync", "PostSync"];
const annotationOf = ({ metadata }: KubeObject, name: string) => {
  const annotation = membersOf(metadata.annotations)[name];
  return annotation === undefined ? undefined : String(annotation);
};
const hookOf = (object: KubeObject) => annotationOf(object, "argocd.argoproj.io/hook");

/** Phase and wave; a later phase follows every wave of the previous one. */
function momentOf(object: KubeObject): number {
  const phase = phases.indexOf(hookOf(object) ?? "Sync");
  assert.ok(phase >= 0, `${nameOf(object)}: what is the hook ${hookOf(object)}?`);
  const wave = Number(annotationOf(object, "argocd.argoproj.io/sync-wave") ?? 0);
  assert.ok(Number.isInteger(wave) && Math.abs(wave) < 500);
  return 1000 * phase + wave;
}

const nameOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.name}`;

/** References to other objects, as `Kind/name`; for a Secret, the object that creates it. */
function needsOf(object: KubeObject): string[] {
  const { kind, spec = {} } = object;
  const found: string[] = [];
  const [workload] = workloads([object]);
  if (workload) {
    const { serviceAccountName, containers, volumes = [] } = workload.spec.template.spec;
    found.push(`ServiceAccount/${serviceAccountName}`);
    for (const { envFrom = [] } of containers) {
      for (const { configMapRef, secretRef } of envFrom)
        found.push(configMapRef ? `ConfigMap/${configMapRef.name}` : `Secret/${secretRef.name}`);
    }
    for (const { secret, configMap, projected, persistentVolumeClaim } of volumes) {
      if (persistentVolumeClaim) found.push(`PersistentVolumeClaim/${persistentVolumeClaim.claimName}`);
      if (secret) found.push(`Secret/${secret.secretName}`);
      if (configMap) found.push(`ConfigMap/${configMap.name}`);
      for (const source of projected?.sources ?? []) found.push(`Secret/${source.secret.name}`);
    }
  }
  const { kind: scaled = "Deployment", name: scaledName } = spec.scaleTargetRef ?? {};
  if (scaledName) found.push(`${scaled}/${scaledName}`);
  for (const { passwordSecret } of spec.managed?.roles ?? []) found.push(`Secret/${passwordSecret.name}`);
  for (const { parameters } of spec.plugins ?? []) found.push(`ObjectStore/${parameters.barmanObjectName}`);
  for (const { name } of Object.values<{ name: string }>(spec.configuration?.s3Credentials ?? {}))
    found.push(`Secret/${name}`);
  if (kind !== "Cluster" && spec.cluster) found.push(`Cluster/${spec.cluster.name}`);
  for (const { backendRefs = [] } of kind === "HTTPRoute" ? spec.rules : [])
    for (const { name } of backendRefs) found.push(`Service/${name}`);
  for (const { http } of kind === "Ingress" ? spec.rules : [])
    for (const { backend } of http.paths) found.push(`Service/${backend.service.name}`);
  return found;
}

/** Services that a hook calls by its network policies, with those policies. */
function callTargetsOf(objects: Objects, hook: KubeObject): string[] {
  const calls = allowedConnections(objects).flatMap((connection) => {
    const [caller, called] = connection.split(/ > |:/);
    return caller === hook.metadata.name && called ? [called] : [];
  });
  const servers = objects.filter(
    ({ kind, metadata }) => ["StatefulSet", "Cluster", "Deployment"].includes(kind) && calls.includes(metadata.name),
  );
  return [...servers, ...ofKind(objects, "NetworkPolicy")].map(nameOf);
}

/** By name, including Secrets that other objects create. */
function objectsByName(objects: Objects): Map<string, KubeObject> {
  const byName = new Map(objects.map((object) => [nameOf(object), object]));
  for (const made of ofKind(objects, "ExternalSecret")) byName.set(`Secret/${made.spec.target.name}`, made);
  // Created by the operator.
  for (const cluster of ofKind(objects, "Cluster")) byName.set(`Secret/${cluster.metadata.name}-ca`, cluster);
  return byName;
}

/** Objects that come too late, with their users. */
function tooLate(objects: Objects): string[] {
  const byName = objectsByName(objects);
  const hasStore = ofKind(objects, "ExternalSecret").length > 0;
  return objects.flatMap((object) => {
    const isHook = hookOf(object) !== undefined;
    const needs = [...needsOf(object), ...(isHook ? callTargetsOf(objects, object) : [])];
    return needs.flatMap((need) => {
      const needed = byName.get(need);
      // Without a store the Secrets are created manually before everything else (docs/production.md).
      if (!needed) return need.startsWith("Secret/") && !hasStore ? [] : [`${nameOf(object)}: there is no ${need}`];
      const [own, other] = [momentOf(object), momentOf(needed)];
      return other < own || (other === own && !isHook) ? [] : [`${nameOf(object)}: ${need} comes too late`];
    });
  });
}

eachOverlay(test, "what an object needs does not come after it, and what a hook needs comes before it", (objects) => {
  const hooks = objects.filter((object) => hookOf(object) !== undefined);
  assert.deepEqual(hooks.map(nameOf), ["Job/migrate"]);
  for (const hook of hooks)
    assert.ok(callTargetsOf(objects, hook).length > 2, "it has calls and policies that permit them");
  assert.deepEqual(tooLate(objects), []);
});

testRendered(test, "the same with an Ingress, with a route alone, and with the pooler", async () => {
  for (const [folder, component] of [
    ["base", "ingress"],
    ["base", "gateway-api"],
    ["overlays/production", "pooler"],
  ] as const) {
    assert.deepEqual(tooLate(await renderWith(folder, [component])), []);
  }
});

eachOverlay(test, "migrate has run before any process of this release starts", (objects) => {
  const migrate = objects.find((object) => nameOf(object) === "Job/migrate") ?? assert.fail("there is no migrate");
  const started = ofKind(objects, "Deployment");
  assert.ok(started.length >= 5 || started.some(({ metadata }) => metadata.name === "one"));
  for (const deployment of started) assert.ok(momentOf(deployment) > momentOf(migrate), nameOf(deployment));
});

eachOverlay(test, "unused ConfigMaps are removed after the rollout, and migrate's job is replaced", (objects) => {
  // Letters of kustomize's hashes, which form no words.
  const hashed = ofKind(objects, "ConfigMap").filter(({ metadata }) => /-[bcdfghkmt2-9]{10}$/.test(metadata.name));
  assert.ok(hashed.length > 6);
  for (const map of hashed)
    assert.equal(annotationOf(map, "argocd.argoproj.io/sync-options"), "PruneLast=true", nameOf(map));
  const job = objects.find((object) => nameOf(object) === "Job/migrate") ?? assert.fail("there is no migrate");
  assert.equal(annotationOf(job, "argocd.argoproj.io/hook-delete-policy"), "BeforeHookCreation");
  assert.equal(annotationOf(job, "kustomize.toolkit.fluxcd.io/force"), "enabled");
});

test.run();
