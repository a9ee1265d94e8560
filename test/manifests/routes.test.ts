// Routes of an installation: the kinds that its cluster must have, and that every public origin leads to its process.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eachOverlay, ofKind, renderOverlay, testRendered } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("routes of the manifests", { timeoutMs: 120_000 });

const ownGroups = /^(v1|(apps|autoscaling|batch|policy|networking\.k8s\.io)\/v\d)$/;

testRendered(test, "local: kubectl apply needs no kind that a cluster has not from the start", () => {
  const foreign = renderOverlay("local").filter(({ apiVersion }) => !ownGroups.test(apiVersion));
  assert.deepEqual(
    foreign.map(({ kind, metadata }) => `${kind}/${metadata.name}`),
    [],
  );
});

eachOverlay(test, "each public origin has a route to the process that serves it", (objects, overlay) => {
  const settings = ofKind(objects, "ConfigMap").flatMap(({ data }) => Object.entries<string>(data));
  const sent = settings.filter(([name]) =>
    /^(CHECKOUT_ORIGIN|SIMULATOR_PUBLIC_URL|PUBLIC_URL|CONSOLE_ORIGIN|API_ORIGIN)$/.test(name),
  );
  assert.ok(sent.length > 0);
  const led = sent.map(([name, url]) => {
    const { hostname } = new URL(url);
    const routes = ofKind(objects, "HTTPRoute").filter(({ spec }) => spec.hostnames.includes(hostname));
    const backends = routes.flatMap(({ spec }) => spec.rules.flatMap((rule: Rule) => rule.backendRefs));
    return [name, hostname === "localhost" ? "kubectl port-forward" : backends.map((backend) => backend.name).join()];
  });
  const wanted = (name: string) => targets[name] ?? "simulator";
  assert.deepEqual(
    led,
    sent.map(([name]) => [name, overlay === "local" ? "kubectl port-forward" : wanted(name)]),
  );
});

const targets: Readonly<Record<string, string>> = {
  CHECKOUT_ORIGIN: "gateway",
  API_ORIGIN: "gateway",
  CONSOLE_ORIGIN: "console",
};

interface Rule {
  readonly backendRefs: readonly { name: string }[];
}

testRendered(
  test,
  "staging: routes reach the simulator's pages and their requests, not its API and test controls",
  () => {
    const route = renderOverlay("staging").find(
      ({ kind, metadata }) => kind === "HTTPRoute" && metadata.name === "simulator",
    );
    const matches: { path: { type: string; value: string } }[] = route?.spec.rules[0].matches;
    const isOpen = (path: string) =>
      matches.some(
        ({ path: { type, value } }) => path === value || (type === "PathPrefix" && path.startsWith(`${value}/`)),
      );
    const files = globSync("services/simulator/{server,routes/*}.ts", { cwd: root });
    const texts = files.map((file) => readFileSync(join(root, file), "utf8"));
    const paths = texts.flatMap((text) =>
      [...text.matchAll(/app\.\w+(?:<.*?>)?\(\s*"(\/[^"]*)"/g)].map(([, path = ""]) => path),
    );
    const inside = /^\/(api|test|healthz)\b/;
    assert.ok(paths.length > 15 && paths.some((path) => inside.test(path)));
    for (const path of paths) assert.equal(isOpen(path), !inside.test(path), path);
  },
);

test.run();
