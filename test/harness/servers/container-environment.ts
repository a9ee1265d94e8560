// A container's environment: config maps, its own variables, and the files of mounted secrets, which are written into a
// folder with values of the right form.
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { callerLine } from "#platform/secrets/callers.ts";
import { eventKeyLine, newNkey } from "../../../deploy/cli/setup/identities.ts";
import { makeAuthority } from "../../../deploy/local/state/certificate.ts";
import type { KubeObject } from "../files/kube-schema.ts";

const authority = await makeAuthority("an authority", 1);
const key = () => randomBytes(32).toString("base64");

/** The value that a key of a Secret would have. */
function exampleOf(name: string): string {
  if (name.endsWith("DATABASE_URL")) return "postgres://role@postgres:5432/database?sslmode=verify-full";
  if (name === "ARCHIVE_KEY") return "archive-key:archive-secret";
  if (name === "SMTP_URL") return "smtps://tollbooth:password@mail.example.com:465";
  if (name === "ENCRYPTION_KEYS") return `k1:${key()}`;
  if (name === "callers") return callerLine("gateway", key());
  if (name === "seed") return newNkey().seed;
  if (name === "keys") return eventKeyLine("payments", randomBytes(32));
  if (name === "ca.crt") return authority.cert;
  return key();
}

/** @param folder the container's root; the files of its mounted secrets are written there */
export function environmentOfContainer(
  objects: readonly KubeObject[],
  workload: KubeObject,
  folder: string,
): Record<string, string> {
  const pod = workload.spec.template.spec;
  const [container] = pod.containers;
  const env: Record<string, string> = {};
  for (const { configMapRef, prefix = "" } of container.envFrom ?? []) {
    const map = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === configMapRef.name);
    if (!map) throw new Error(`${workload.metadata.name}: there is no config map ${configMapRef.name}`);
    for (const [name, value] of Object.entries<string>(map.data)) env[`${prefix}${name}`] = value;
  }
  for (const { name, value, valueFrom } of container.env ?? [])
    env[name] = value ?? (valueFrom.fieldRef ? name.toLowerCase() : exampleOf(valueFrom.secretKeyRef?.key));
  const mounts: { name: string; mountPath: string }[] = container.volumeMounts ?? [];
  for (const [name, path] of mountedFiles(env)) {
    const mount = mounts.find(({ mountPath }) => dirname(path) === mountPath);
    const volume = pod.volumes.find((each: { name: string }) => each.name === mount?.name);
    if (!volume?.secret)
      throw new Error(`${workload.metadata.name}: ${name} names ${path}, where no secret is mounted`);
  }
  return withMountedFiles(env, folder);
}

/** The same variables, with the files of secrets that they name written under the folder. */
export function withMountedFiles(env: Record<string, string>, folder: string): Record<string, string> {
  const moved = mountedFiles(env).map(([name, path]) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, exampleOf(basename(path)));
    return [name, file];
  });
  return { ...env, ...Object.fromEntries(moved) };
}

function mountedFiles(env: Record<string, string>): [string, string][] {
  return Object.entries(env).filter(([name, path]) => name.endsWith("_FILE") && path.startsWith("/run/secrets/"));
}
