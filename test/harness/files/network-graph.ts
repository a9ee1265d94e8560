// The connections that rendered network policies allow, as Kubernetes reads them: between two pods one exists only if a
// policy of the caller lets it out and a policy of the called one lets it in; towards what is not ours, one end
// decides. A pod that no policy of a direction selects is open in it. Words of the policies that are not read here
// throw: nothing is passed over.
import { membersOf } from "#platform/values/unchecked.ts";
import type { KubeObject } from "./kube-schema.ts";

type Labels = Readonly<Record<string, string>>;

interface Pod {
  readonly name: string;
  readonly labels: Labels;
  /** The numbers of its named ports. */
  readonly ports: Readonly<Record<string, number>>;
}

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { cidr: string; except?: readonly string[] };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly Port[];
}

interface Port {
  readonly port?: number | string;
  readonly protocol?: string;
  readonly endPort?: number;
}

/** Every port. */
const every = "*";
const known = new Set(["podSelector", "policyTypes", "ingress", "egress"]);

/**
 * @returns `caller > called:port`, sorted; `stranger` is a pod that no policy names, `anywhere` every address, pods'
 * included
 */
export function allowedConnections(objects: readonly KubeObject[]): string[] {
  const policies = objects.filter(({ kind }) => kind === "NetworkPolicy");
  for (const { metadata, spec } of policies) {
    const unread = Object.keys(spec).filter((field) => !known.has(field));
    if (unread.length > 0) throw new Error(`${metadata.name}: ${unread} is not read here`);
  }
  const pods = [...podsOf(objects), { name: "stranger", labels: {}, ports: {} }];
  const home = { "kubernetes.io/metadata.name": "tollbooth", ...labelsOfNamespace(objects) };
  const selects = (peers: readonly Peer[] | undefined, pod: Pod) =>
    peers === undefined || peers.some((peer) => meansPod(peer, pod, home));
  /** The rules of a direction that hold for a pod; undefined: none selects it, everything is allowed. */
  const rulesOf = (pod: Pod, direction: "Ingress" | "Egress"): readonly Rule[] | undefined => {
    const own = policies.filter(
      ({ spec }) => spec.policyTypes.includes(direction) && isSelected(spec.podSelector, pod.labels),
    );
    return own.length === 0 ? undefined : own.flatMap(({ spec }) => spec[direction.toLowerCase()] ?? []);
  };
  const found = new Set<string>();
  for (const caller of pods) {
    const out = rulesOf(caller, "Egress") ?? [{}];
    for (const called of pods) {
      const into = rulesOf(called, "Ingress") ?? [{}];
      const left = portsOf(
        out.filter(({ to }) => selects(to, called)),
        called,
      );
      const entered = portsOf(
        into.filter(({ from }) => selects(from, caller)),
        called,
      );
      for (const port of common(left, entered)) found.add(`${caller.name} > ${called.name}:${port}`);
    }
    for (const rule of out) {
      for (const external of externalPeersOf(rule.to, home))
        for (const port of portsOf([rule])) found.add(`${caller.name} > ${external}:${port}`);
    }
    for (const rule of rulesOf(caller, "Ingress") ?? [{}]) {
      for (const external of externalPeersOf(rule.from, home))
        for (const port of portsOf([rule], caller)) found.add(`${external} > ${caller.name}:${port}`);
    }
  }
  return [...found].sort();
}

/** Pods of the rendered workloads, including those of a database cluster's operator. */
function podsOf(objects: readonly KubeObject[]): Pod[] {
  return objects.flatMap((object): Pod[] => {
    const { name } = object.metadata;
    if (object.kind === "Cluster") return [{ name, labels: { "cnpg.io/cluster": name }, ports: {} }];
    // The operator's pods of a pooler bear the name of the cluster, too.
    if (object.kind === "Pooler") {
      const labels = { "cnpg.io/cluster": object.spec.cluster.name, "cnpg.io/poolerName": name };
      return [{ name, labels, ports: {} }];
    }
    if (!["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod"].includes(object.kind)) return [];
    const { metadata, spec } = (object.spec.jobTemplate?.spec ?? object.spec).template;
    const ports: { name: string; containerPort: number }[] = spec.containers.flatMap(
      (container: { ports?: { name: string; containerPort: number }[] }) => container.ports ?? [],
    );
    const numbers = Object.fromEntries(ports.map((port) => [port.name, port.containerPort]));
    return [{ name, labels: metadata.labels, ports: numbers }];
  });
}

function labelsOfNamespace(objects: readonly KubeObject[]): Labels {
  const labels = objects.find(({ kind }) => kind === "Namespace")?.metadata.labels;
  return Object.fromEntries(Object.entries(membersOf(labels)).map(([name, value]) => [name, String(value)]));
}

function isSelected({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  const holds = ({ key, operator, values = [] }: { key: string; operator: string; values?: readonly string[] }) => {
    if (operator === "In") return values.includes(labels[key] ?? "");
    throw new Error(`the operator ${operator} of a selector is not read here`);
  };
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every(holds);
}

/** Whether a peer of a rule means a pod of ours. Addresses are another matter: what they name is in no cluster. */
function meansPod({ podSelector, namespaceSelector, ipBlock }: Peer, pod: Pod, home: Labels): boolean {
  if (ipBlock) return false;
  const isHere = namespaceSelector === undefined || isSelected(namespaceSelector, home);
  return isHere && isSelected(podSelector ?? {}, pod.labels);
}

/** Peers of a rule outside our namespace. */
function externalPeersOf(peers: readonly Peer[] | undefined, home: Labels): string[] {
  if (peers === undefined) return ["anywhere"];
  return peers.flatMap(({ podSelector, namespaceSelector, ipBlock }) => {
    if (ipBlock) return [addressRangeOf(ipBlock)];
    if (namespaceSelector === undefined) return [];
    const pods = wordsOf(podSelector ?? {});
    if (isSelected(namespaceSelector, home) && pods === "") return ["every namespace"];
    return [pods || wordsOf(namespaceSelector)];
  });
}

const private4 = ["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"];

function addressRangeOf({ cidr, except = [] }: { cidr: string; except?: readonly string[] }): string {
  if (cidr === "0.0.0.0/0" && private4.every((range) => except.includes(range))) return "internet";
  if (cidr === "0.0.0.0/0" || cidr === "::/0") return "anywhere";
  return except.length === 0 ? cidr : `${cidr} without ${except}`;
}

/** The values that a selector asks for; empty: it takes everything. */
function wordsOf({ matchLabels = {}, matchExpressions = [] }: Selector): string {
  const listed = matchExpressions.map(({ key, values }) => `${key} in ${values}`);
  const named = Object.entries(matchLabels).map(([key, value]) => (value === "true" ? key : value));
  return [...named, ...listed].join(" and ");
}

/** @param pod whose named ports they are; rules towards what is not ours name numbers */
function portsOf(rules: readonly Rule[], pod?: Pod): Set<string> {
  return new Set(rules.flatMap(({ ports }) => ports?.map((port) => portOf(port, pod)) ?? [every]));
}

function portOf({ port, protocol = "TCP", endPort }: Port, pod: Pod | undefined): string {
  if (endPort !== undefined) throw new Error("ranges of ports are not read here");
  const number = typeof port === "string" ? pod?.ports[port] : (port ?? every);
  // A name that the pod does not have opens nothing, in a cluster too; here it is a mistake, which the picture shows.
  if (number === undefined) return `no port ${port}`;
  return protocol === "TCP" ? String(number) : `${number}/${protocol.toLowerCase()}`;
}

function common(left: ReadonlySet<string>, entered: ReadonlySet<string>): string[] {
  if (left.has(every)) return [...entered];
  return [...left].filter((port) => entered.has(every) || entered.has(port));
}
