// Random secrets of a local stack, created on the first start with mode 0600 and then kept.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { StartError } from "../start-error.ts";
import { readIfThere, readObject, writePrivate } from "./private-file.ts";

const makers = {
  /** Superuser of the stack's own PostgreSQL server. */
  postgresPassword: () => random(24),
  /** Database roles of the services. */
  servicePassword: () => random(24),
  /** `id:base64(32 bytes)`, comma-separated; the first one encrypts. */
  encryptionKeys: () => `k1:${randomBytes(32).toString("base64")}`,
  /** base64(32 bytes); hashes API keys and session secrets. */
  hashKey: () => randomBytes(32).toString("base64"),
  /** Our API key at the simulator. */
  simulatorSecretKey: () => `sim_sk_${random(32)}`,
  /** Signs the simulator's webhooks. */
  simulatorWebhookSecret: () => `sim_wh_${random(32)}`,
};

export type Secrets = Record<keyof typeof makers, string>;

/** Reads the secrets and creates missing ones. */
export async function stackSecrets(stateDir: string): Promise<Secrets> {
  const path = join(stateDir, "secrets.json");
  const known = await readObject(path);
  if (!known && (await readIfThere(path)) !== undefined) {
    throw new StartError(
      `${path} is damaged: the stack's data cannot be read without it; restore it or remove the folder`,
    );
  }
  const keep = (name: keyof Secrets) => {
    const value = known?.[name];
    return typeof value === "string" && value !== "" ? value : makers[name]();
  };
  const secrets: Secrets = {
    postgresPassword: keep("postgresPassword"),
    servicePassword: keep("servicePassword"),
    encryptionKeys: keep("encryptionKeys"),
    hashKey: keep("hashKey"),
    simulatorSecretKey: keep("simulatorSecretKey"),
    simulatorWebhookSecret: keep("simulatorWebhookSecret"),
  };
  await writePrivate(path, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}

function random(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}
