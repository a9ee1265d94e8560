// The connections that each installation's rendered policies permit are exactly those of a declared list, with a rule
// at both ends. A missing one breaks a call; an extra one helps an intruder.
import assert from "node:assert/strict";
import { isIP } from "node:net";
import type { KubeObject } from "../harness/files/kube-schema.ts";
import { allowedConnections } from "../harness/files/network-graph.ts";
import {
  eachOverlay,
  type Overlay,
  ofKind,
  renderFolder,
  renderOverlayWith,
  renderWith,
  testRendered,
} from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";

const test = suite("network of the manifests", { timeoutMs: 120_000 });

// DNS servers: the cluster's pods, a cache on each node, OpenShift's pods.
const names = ["kube-dns:53", "169.254.20.10/32:53", "openshift-dns:5353"]
  .map((address) => `${address} ${address}/udp`)
  .join(" ");

// Calls in every installation: the picture of docs/architecture.md, and DNS.
const base = `
  anywhere  > gateway:8080
  anywhere  > console:8080
  gateway   > checkout:8080 payments:8080 merchant:8080 webhook:8080 ${names}
  console   > checkout:8080 payments:8080 merchant:8080 webhook:8080 ${names}
  checkout  > merchant:8080 payments:8080 ${names}
  payments  > merchant:8080 internet:443 ${names}
  merchant  > ${names}
  webhook   > checkout:8080 payments:8080 merchant:8080 internet:* ${names}
  migrate   > ${names}
  stranger  > ${names}
`;
const services = "checkout payments merchant webhook";
/** Rows of several callers with the same targets. */
const rowsOf = (names: string, targets: string) =>
  names
    .split(" ")
    .map((name) => `${name} > ${targets}`)
    .join("\n");

const natsOutside = (cidr: string) => rowsOf(`gateway ${services} migrate`, `${cidr}:4222`);
const nats = `${rowsOf(`gateway ${services} migrate`, "nats:4222")}
  nats      > ${names}
`;
const natsR3 = `${nats}
  nats      > nats:6222
`;
const postgresOutside = (cidr: string) => rowsOf(`${services} migrate`, `${cidr}:5432`);
const postgres = `${rowsOf(`${services} migrate`, "postgres:5432")}
  postgres  > ${names}
`;
// The instance manager uses the Kubernetes API, and backups go to the object store, at addresses of the cluster.
const cloudNativePg = `${postgres}
  postgres    > postgres:5432 anywhere:443 anywhere:6443
  cnpg-system > postgres:5432 postgres:8000
`;
// PgBouncer's pods have the cluster's label and thus its rules; services can still reach the server, to migrate.
const pooler = `${rowsOf(`${services} migrate postgres`, "postgres-pooler:5432")}
  postgres-pooler > postgres:5432 postgres-pooler:5432 anywhere:443 anywhere:6443 ${names}
  cnpg-system > postgres-pooler:5432 postgres-pooler:8000
  monitoring  > postgres-pooler:9187 postgres-pooler:9127
`;
// An outside company inside the cluster: browsers load its card forms, and it calls the gateway as from the internet.
const simulator = `
  anywhere  > simulator:8080
  payments  > simulator:8080
  simulator > gateway:8080 ${names}
`;
const monitoring = `
  monitoring > gateway:9090 console:9090 checkout:9090 payments:9090 merchant:9090 webhook:9090
`;
// The servers' metrics, and the pooler's port.
const monitoringServers = `
  monitoring > postgres:9187 postgres:9127
`;
const processes = `gateway console ${services}`;
const tracing = rowsOf(processes, "observability:4318");
// The proxies' own port along the calls of the picture; control plane: identity 8080, destinations 8086, policies 8090.
const controlPlane = [8080, 8086, 8090].map((port) => `linkerd.io/is-control-plane:${port}`).join(" ");
const linkerd = `${rowsOf(processes, controlPlane)}
  gateway   > checkout:4143 payments:4143 merchant:4143 webhook:4143
  console   > checkout:4143 payments:4143 merchant:4143 webhook:4143
  checkout  > merchant:4143 payments:4143
  payments  > merchant:4143
  webhook   > checkout:4143 payments:4143 merchant:4143
`;
// The pod for operators' commands calls the services and accepts no calls.
const operator = `
  operator  > checkout:8080 payments:8080 merchant:8080 webhook:8080 ${names}
`;
const operatorInMesh = `
  operator  > checkout:4143 payments:4143 merchant:4143 webhook:4143
  operator  > ${controlPlane}
`;
// Operators reach it through a Gateway of the company's own network; it calls as an operator.
const operatorsConsole = `
  gateway-system    > operators-console:8080
  operators-console > checkout:8080 payments:8080 merchant:8080 webhook:8080 ${names}
  operators-console > checkout:4143 payments:4143 merchant:4143 webhook:4143
  operators-console > ${controlPlane}
  operators-console > observability:4318
  monitoring        > operators-console:9090
`;
const keda = `
  keda      > nats:8222
`;

// All processes except migrate share one pod: the sum of their rules, and none between them.
const small = `
  anywhere  > one:8080 one:8083
  operator  > one:8091 one:8092 one:8093 one:8094 ${names}
  one       > nats:4222 postgres:5432 internet:* ${names}
  migrate   > nats:4222 postgres:5432 ${names}
  nats      > ${names}
  postgres  > ${names}
  stranger  > ${names}
  postgres-backup > postgres:5432 ${names}
`;

const pictures: Readonly<Record<Overlay, readonly string[]>> = {
  local: [base, postgres, nats, simulator, "simulator > postgres:5432"],
  small: [small],
  staging: [
    base,
    postgresOutside("192.0.2.0/24"),
    nats,
    simulator,
    "simulator > 192.0.2.0/24:5432",
    monitoring,
    tracing,
    operator,
  ],
  production: [
    base,
    cloudNativePg,
    natsR3,
    monitoring,
    monitoringServers,
    tracing,
    linkerd,
    operator,
    operatorInMesh,
    keda,
  ],
};

eachOverlay(test, "the network permits exactly the declared connections", (objects, overlay) => {
  assert.deepEqual(allowedConnections(objects), connectionsOf(pictures[overlay]));
});

testRendered(test, "with the pooler: the services reach it, and it reaches the server", async () => {
  const objects = await renderWith("overlays/production", ["pooler"]);
  assert.deepEqual(allowedConnections(objects), connectionsOf([...pictures.production, pooler]));
});

testRendered(test, "with the operators' console: only the internal Gateway reaches it", async () => {
  const objects = renderOverlayWith("production", "operators-console");
  assert.deepEqual(allowedConnections(objects), connectionsOf([...pictures.production, operatorsConsole]));
});

testRendered(
  test,
  "with mail and company sign-in: merchant reaches the mail server, it and the consoles the provider",
  async () => {
    const objects = await renderWith("overlays/production", ["mail", "company-sign-in"]);
    const outside = "merchant > internet:465 internet:587 internet:443\nconsole > internet:443";
    assert.deepEqual(allowedConnections(objects), connectionsOf([...pictures.production, outside]));
  },
);

testRendered(test, "with the archive: checkout and payments reach the bucket", async () => {
  const objects = await renderWith("overlays/production", ["archive"]);
  const outside = "checkout > internet:443\npayments > internet:443";
  assert.deepEqual(allowedConnections(objects), connectionsOf([...pictures.production, outside]));
});

testRendered(
  test,
  "with internal callers: labelled namespaces reach the services' RPC ports and nothing else",
  async () => {
    const objects = await renderWith("overlays/production", ["internal-callers"]);
    const ports = services.split(" ").flatMap((name) => [`${name}:8080`, `${name}:4143`]);
    const callers = `tollbooth/internal-caller > ${ports.join(" ")}`;
    assert.deepEqual(allowedConnections(objects), connectionsOf([...pictures.production, callers]));
  },
);

testRendered(test, "base alone: no process reaches a database or broker without a component or overlay for it", () => {
  assert.deepEqual(allowedConnections(renderFolder("deploy/kubernetes/base")), connectionsOf([base]));
});

testRendered(
  test,
  "permits an outside server's addresses from the overlay, and renders an invalid policy without them",
  async () => {
    const stated = await withComponents(["postgres-outside", "nats-outside"], "192.0.2.7/32");
    const picture = [base, postgresOutside("192.0.2.7/32"), natsOutside("192.0.2.7/32")];
    assert.deepEqual(allowedConnections(stated), connectionsOf(picture));
    for (const component of ["postgres-outside", "nats-outside"]) {
      const cidrs = cidrsOf(await withComponents([component]));
      // The API server refuses a policy with an invalid address.
      assert.equal(cidrs.filter((cidr) => !isCidr(cidr)).length, 1, component);
    }
  },
);

eachOverlay(test, "every address of a policy is one", (objects) => {
  const cidrs = cidrsOf(objects);
  assert.ok(cidrs.length > 0);
  assert.deepEqual(
    cidrs.filter((cidr) => !isCidr(cidr)),
    [],
  );
});

/** Rows `caller > called:port called:port` as single connections. */
function connectionsOf(tables: readonly string[]): string[] {
  const rows = tables.flatMap((table) => table.split("\n")).filter((row) => row.trim() !== "");
  const connections = rows.flatMap((row) => {
    const [caller = "", called = ""] = row.split(">");
    return called
      .trim()
      .split(/\s+/)
      .map((end) => `${caller.trim()} > ${end}`);
  });
  return [...new Set(connections)].sort();
}

/** base with components. @param cidr of the outside servers */
function withComponents(components: readonly string[], cidr?: string): Promise<readonly KubeObject[]> {
  const patch = {
    target: { kind: "NetworkPolicy", name: "(postgres|nats)-outside" },
    patch: JSON.stringify([{ op: "replace", path: "/spec/egress/0/to/0/ipBlock/cidr", value: cidr }]),
  };
  return renderWith("base", components, cidr === undefined ? [] : [patch]);
}

function cidrsOf(objects: readonly KubeObject[]): string[] {
  const peers = ofKind(objects, "NetworkPolicy").flatMap(({ spec }) =>
    [...(spec.egress ?? []), ...(spec.ingress ?? [])].flatMap(({ to, from }) => to ?? from ?? []),
  );
  return peers.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr, ...(ipBlock.except ?? [])] : []));
}

function isCidr(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  return isIP(address) > 0 && /^\d{1,3}$/.test(bits) && rest.length === 0;
}

test.run();
