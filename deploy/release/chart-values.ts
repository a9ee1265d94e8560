// Finds in rendered objects what a chart's user sets (image, hosts, names of Secrets, replicas, resources) and puts a
// mark in its place; likewise for kustomize's hash in the names of settings.
import { membersOf } from "#platform/values/unchecked.ts";

/** As in a manifest. */
export interface ManifestObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

type Tree = Record<string, unknown>;

const hashed = /-([bcdfghkmt2-9]{10})$/;
const exampleHost = /(?<![\w.-])(?:[a-z0-9-]+\.)+example\.com(?![\w-])/g;
/** Fields whose `name` is a Secret's. */
const secretReferences = new Set(["secret", "passwordSecret", "secretKeyRef", "accessKeyId", "secretAccessKey"]);
const withResources = new Set(["Deployment", "StatefulSet", "Job", "Cluster"]);
const replicaFields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  HorizontalPodAutoscaler: { minReplicas: "min", maxReplicas: "max" },
  ScaledObject: { minReplicaCount: "min", maxReplicaCount: "max" },
  Deployment: { replicas: "count" },
};

/** A form and the name of a value; replaced after the object is written as YAML. */
const markOf = (form: "plain" | "json" | "hash", name: string) => `\u27e6${form} ${name}\u27e7`;
export const marks = /\u27e6(\w+) ([^\u27e7]+)\u27e7/g;

/** `rpc-token-gateway` as the name of a value. */
export function camelCase(name: string): string {
  return name.replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
}

const markedHash = /-\u27e6hash [^\u27e7]+\u27e7$/;

/** The kind and name of an object, without the hash of its content, and without marks. */
export function identityOf({ kind, metadata }: ManifestObject): string {
  const name = metadata.name
    .replace(hashed, "")
    .replace(markedHash, "")
    .replace(marks, (_, _form, path) => path);
  return `${kind}-${name.replace("secrets.", "")}`.toLowerCase();
}

/** Values of one overlay with their defaults, and hashes of settings by name, as they are found. */
export class ChartValues {
  readonly defaults: Tree = {};
  readonly hashes = new Map<string, string>();

  /** @param objects of one rendering */
  markAll(objects: readonly ManifestObject[]): ManifestObject[] {
    const settings = new Map<string, string>();
    for (const { kind, metadata } of objects) {
      const hash = hashed.exec(metadata.name)?.[1];
      if (kind !== "ConfigMap" || hash === undefined) continue;
      const name = metadata.name.replace(hashed, "");
      if (!this.hashes.has(name)) this.hashes.set(name, hash);
      settings.set(metadata.name, `${name}-${markOf("hash", name)}`);
    }
    return objects.map((object) => this.#markObject(object, settings));
  }

  #markObject(object: ManifestObject, settings: ReadonlyMap<string, string>): ManifestObject {
    const { kind } = object;
    const owner = camelCase(object.metadata.name);
    const visit = (value: unknown, key: string, parent: string, container: string): unknown => {
      if (typeof value === "string") return settings.get(value) ?? this.#markText(value, key, parent, kind);
      if (Array.isArray(value)) return value.map((each) => visit(each, key, parent, container));
      const replicas = parent === "spec" && replicaFields[kind]?.[key];
      if (replicas) return this.#markValue(`replicas.${owner}.${replicas}`, value);
      if (typeof value !== "object" || value === null) return value;
      const tree: Tree = { ...value };
      if (key === "resources" && withResources.has(kind) && "limits" in tree)
        return this.#markValue(`resources.${owner}${container}`, tree, "json");
      const inner = "image" in tree && tree.name !== "app" ? `.${camelCase(String(tree.name))}` : container;
      return Object.fromEntries(Object.entries(tree).map(([name, each]) => [name, visit(each, name, key, inner)]));
    };
    return { ...object, ...membersOf(visit(object, "", "", "")) };
  }

  #markText(text: string, key: string, parent: string, kind: string): string {
    if (key === "image" && text.startsWith("registry.example.com/")) return this.#markValue("image", text);
    const isStored = kind === "ExternalSecret" && key === "name" && ["metadata", "target"].includes(parent);
    if (key === "secretName" || isStored || (key === "name" && secretReferences.has(parent)))
      return this.#markValue(`secrets.${camelCase(text)}`, text);
    if (key === "cidr" && text.startsWith("192.0.2.")) return this.#markValue("hosts.postgres", text);
    return text.replaceAll(exampleHost, (host) =>
      this.#markValue(`hosts.${camelCase(host.split(".")[0] ?? "")}`, host),
    );
  }

  /** An overlay's own host wins over a component's. @throws if another default differs from an earlier object's */
  #markValue(path: string, value: unknown, form: "plain" | "json" = "plain"): string {
    const [first = "", ...rest] = path.split(".");
    const last = rest.pop();
    let at = this.defaults;
    for (const name of last === undefined ? [] : [first, ...rest]) at = at[name] = { ...membersOf(at[name]) };
    const name = last ?? first;
    at[name] ??= value;
    if (first !== "hosts" && JSON.stringify(at[name]) !== JSON.stringify(value))
      throw new Error(`${path} has two defaults`);
    return markOf(form, path);
  }
}
