// Checks a Kubernetes object against its published schema. Its validators ignore unknown fields, which a cluster would
// reject or drop: therefore the fields that they read are recorded.

/** As in a manifest. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  // biome-ignore lint/suspicious/noExplicitAny: whatever the kind has.
  readonly [field: string]: any;
}

/** Packages with the schemas of other projects' kinds, by group; the other groups are Kubernetes' own. */
const libraries: Readonly<Record<string, string>> = {
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  "postgresql.cnpg.io": "@kubernetes-models/cloudnative-pg",
  "external-secrets.io": "@kubernetes-models/external-secrets",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
  "keda.sh": "@kubernetes-models/keda",
};

/** The Barman Cloud plugin and sigstore publish no schema as a package: the fields that their documentation gives. */
const documentedFields: Readonly<Record<string, readonly string[]>> = {
  ObjectStore: ["retentionPolicy", "configuration", "instanceSidecarConfiguration"],
  ClusterImagePolicy: ["mode", "images", "authorities", "match", "policy"],
};

/** Violations with the object's name; empty: valid. */
export async function schemaProblems(object: KubeObject): Promise<string[]> {
  const name = `${object.kind}/${object.metadata.name}`;
  const documented = documentedFields[object.kind];
  if (documented) {
    const unknown = Object.keys(object.spec).filter((field) => !documented.includes(field));
    return unknown.map((field) => `${name}: ${field} is no field of a ${object.kind}`);
  }
  const [group = ""] = object.apiVersion.split("/");
  const library = libraries[group] ?? "kubernetes-models";
  const models: Record<string, unknown> = await import(`${library}/${object.apiVersion}`);
  const model = models[object.kind];
  if (typeof model !== "function") return [`${name}: unknown kind in ${object.apiVersion}`];
  const seen = new Set<string>();
  try {
    validateWatched(model, object, seen);
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : error}`];
  }
  return unseen(object, seen).map((path) => `${name}: ${path} is no field of its schema`);
}

function validateWatched(model: object, object: KubeObject, seen: Set<string>): void {
  const validate: unknown = Reflect.get(Reflect.get(model, "prototype"), "validate");
  if (typeof validate !== "function") throw new Error("the schema cannot be applied");
  const made: object = Reflect.construct(model as new (data: unknown) => object, [object]);
  validate.call(watched(made, "", seen));
}

/** The same object; `seen` gets the path of every field that is read. Fields of a map are read by listing them. */
function watched<T extends object>(value: T, path: string, seen: Set<string>): T {
  return new Proxy(value, {
    get(target, key, receiver) {
      const inner: unknown = Reflect.get(target, key, receiver);
      if (typeof key !== "string") return inner;
      const at = `${path}.${key}`;
      seen.add(at);
      return typeof inner === "object" && inner !== null ? watched(inner, at, seen) : inner;
    },
    ownKeys(target) {
      const keys = Reflect.ownKeys(target);
      for (const key of keys) seen.add(`${path}.${String(key)}`);
      return keys;
    },
  });
}

function unseen(value: unknown, seen: ReadonlySet<string>, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${path}.${key}`;
    return seen.has(at) ? unseen(inner, seen, at) : [at.slice(1)];
  });
}
