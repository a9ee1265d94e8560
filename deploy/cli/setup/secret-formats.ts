// Forms of Secrets: manifests for kubectl, lines for a secret store, and how both are read.
import { randomBytes } from "node:crypto";
import { UsageError } from "../command.ts";

/** Values by the Secret's name and key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A rotation edits these Secrets while processes watch the files; all others are read at the start and immutable. */
export const isMutable = (name: string) => /^(rpc|nats|event)-/.test(name);

/** kubectl accepts JSON and lists. `kubectl apply` cannot overwrite an immutable Secret. */
export function manifestsOf(secrets: Secrets): string {
  const items = Object.entries(secrets).map(([name, stringData]) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "tollbooth", labels: { "app.kubernetes.io/part-of": "tollbooth" } },
    immutable: !isMutable(name),
    type: "username" in stringData ? "kubernetes.io/basic-auth" : "Opaque",
    stringData,
  }));
  return JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2);
}

/** A line per Secret: its name and a JSON object of its keys, which `while read -r name value` splits. */
export function storeLinesOf(secrets: Secrets): string {
  return Object.entries(secrets)
    .map(([name, values]) => `${name} ${JSON.stringify(values)}`)
    .join("\n");
}

interface Manifest {
  readonly metadata?: { readonly name?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

/**
 * @param text manifests of our own or of `kubectl get secrets -o json`, or lines for a store
 * @throws UsageError without a part of the text
 */
export function readSecrets(text: string): Secrets {
  try {
    if (!text.trimStart().startsWith("{")) {
      const lines = text.split("\n").filter((line) => line.trim() !== "");
      return Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(" ")), JSON.parse(line.slice(line.indexOf(" ")))]),
      );
    }
    const read: Manifest & { readonly items?: readonly Manifest[] } = JSON.parse(text);
    return Object.fromEntries((read.items ?? [read]).map((item) => [item.metadata?.name ?? "", valuesOf(item)]));
  } catch {
    // The parser's message could quote a secret.
    throw new UsageError("standard input must have Secrets: kubectl -n tollbooth get secrets -o json");
  }
}

function valuesOf({ data = {}, stringData = {} }: Manifest): Record<string, string> {
  const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  return { ...Object.fromEntries(decoded), ...stringData };
}

export function newPassword(): string {
  return randomBytes(24).toString("base64url");
}
