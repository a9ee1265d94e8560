// The generated Helm chart, rendered by an evaluator of its few template forms, since machines without Helm run this
// test.
import assert from "node:assert/strict";
import { parse, parseAllDocuments } from "yaml";
import { makeChart, switchesOf, withSwitched } from "../../deploy/release/chart.ts";
import { camelCase, identityOf } from "../../deploy/release/chart-values.ts";
import { releaseOverlays, renderManifests } from "../../deploy/release/overlay-rendering.ts";
import { renderChart } from "../harness/files/helm-template.ts";
import type { KubeObject } from "../harness/files/kube-schema.ts";
import { testRendered } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

type Values = Record<string, unknown>;

const test = suite("chart", { timeoutMs: 240_000, hookTimeoutMs: 240_000 });
let chart: ReadonlyMap<string, string>;
let manifests: ReadonlyMap<string, string>;

test.before(() => {
  manifests = new Map(releaseOverlays.map((overlay) => [overlay, renderManifests(overlay)]));
  chart = makeChart("0.2.0", manifests);
});

/** As `helm template -f chart/values-<overlay>.yaml -f mine.yaml`. */
function valuesOf(overlay: string, mine: Values = {}): Values {
  const own = chart.get(`values-${overlay}.yaml`);
  const known: Values = parse(chart.get("values.yaml") ?? "");
  return [own === undefined ? {} : parse(own), mine].reduce(merged, known);
}

function merged(one: Values, other: Values): Values {
  const isTree = (value: unknown): value is Values => typeof value === "object" && value !== null;
  const members = Object.entries(other).map(([name, value]) => {
    const known = one[name];
    return [name, isTree(known) && isTree(value) ? merged(known, value) : value] as const;
  });
  return { ...one, ...Object.fromEntries(members) };
}

const objectsIn = (texts: readonly string[]) =>
  texts.flatMap((text) => parseAllDocuments(text).map((document): KubeObject | null => document.toJS()));
const charted = (overlay: string, mine?: Values) =>
  objectsIn(renderChart(chart, valuesOf(overlay, mine))).filter((object) => object !== null);

/** By kind and name, as a cluster stores them. */
function byIdentity(objects: readonly KubeObject[]): Map<string, KubeObject> {
  const found = new Map(objects.map((object) => [identityOf(object), object]));
  assert.equal(found.size, objects.length, "two objects have one name");
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

for (const overlay of releaseOverlays) {
  testRendered(test, `${overlay}: with its default values the chart renders the overlay, object by object`, () => {
    const wanted = objectsIn([manifests.get(overlay) ?? ""]).filter((object) => object !== null);
    assert.ok(wanted.length > 30);
    assert.deepEqual(byIdentity(charted(overlay)), byIdentity(wanted));
  });

  testRendered(test, `${overlay}: with components switched it renders the overlay with them switched`, () => {
    const switches = switchesOf(overlay);
    // Each component is switched in one half, in another company than in the rendering that it was generated from.
    const halves = [0, 1].map((rest) => switches.filter((_, at) => at % 2 === rest));
    for (const chosen of [switches, ...halves]) {
      const wanted = objectsIn([renderManifests(overlay, (known) => withSwitched(known, chosen))]);
      const components = Object.fromEntries(chosen.map((each) => [camelCase(each.component), each.isAdded]));
      const names = chosen.map(({ component }) => component).join(", ");
      assert.deepEqual(
        plain(charted(overlay, { components })),
        plain(wanted.filter((object) => object !== null)),
        names,
      );
    }
  });
}

/** Without hashes of contents, staging's part of a host, which an added component lacks, and members that are empty. */
function plain(objects: readonly KubeObject[]): unknown {
  const text = JSON.stringify([...byIdentity(objects)], (_, value: unknown) => {
    const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
    return value === null || (isEmpty && !Array.isArray(value)) ? undefined : value;
  });
  return JSON.parse(
    text.replaceAll(".staging.example", ".example").replaceAll(/-[bcdfghkmt2-9]{10}(-[0-9a-f]{10})?"/g, '"'),
  );
}

testRendered(test, "image, hosts, names of Secrets, replicas and resources are values", () => {
  const objects = byIdentity(
    charted("production", {
      image: "registry.shop.test/tollbooth@sha256:1",
      hosts: { api: "api.shop.test" },
      secrets: { rpcTokenGateway: "gateway-token" },
      replicas: { gateway: { min: 5 } },
      resources: { gateway: { limits: { memory: "1Gi" } } },
    }),
  );
  const pod = objects.get("deployment-gateway")?.spec.template.spec;
  assert.equal(pod.containers[0].image, "registry.shop.test/tollbooth@sha256:1");
  assert.deepEqual(pod.containers[0].resources, {
    limits: { memory: "1Gi" },
    requests: { cpu: "200m", memory: "384Mi" },
  });
  assert.ok(
    pod.volumes.some((each: { secret?: { secretName: string } }) => each.secret?.secretName === "gateway-token"),
  );
  assert.ok(objects.has("externalsecret-gateway-token"));
  assert.equal(objects.get("horizontalpodautoscaler-gateway")?.spec.minReplicas, 5);
  assert.deepEqual(objects.get("httproute-gateway")?.spec.hostnames, ["api.shop.test", "pay.example.com"]);
});

testRendered(test, "settings of changed values have another name, so pods start with them", () => {
  const nameOf = (mine?: Values) =>
    charted("small", mine).find(
      ({ kind, metadata }) => kind === "ConfigMap" && metadata.name.startsWith("tollbooth-console-"),
    )?.metadata.name;
  const names = [nameOf(), nameOf({ hosts: { api: "one.test" } }), nameOf({ hosts: { api: "two.test" } })];
  assert.equal(new Set(names).size, 3, names.join(" "));
});

test.run();
