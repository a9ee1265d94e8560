// Keys that are given wrapped: a process has them opened once, at its start, by whoever keeps the key around them, and
// then holds them itself. Without that it does not start; what runs goes on.
import {
  ConfigError,
  type ConfigValues,
  oneOf,
  optional,
  type Setting,
  url,
  withDefault,
} from "#platform/process/config.ts";
import { certificateFile } from "./certificate-file.ts";
import { environment, type KeyManagement, KeyManagementError, tryAgain, VaultTransit } from "./key-management.ts";
import { type ConfiguredKeys, isWrapped, type KeyRing } from "./key-ring.ts";

/** A token: one word that fits into a header. */
const token: Setting<string> = {
  parse: (raw) => {
    if (!/^[\x21-\x7e]{1,8192}$/.test(raw)) throw new Error("must be one line without spaces");
    return raw;
  },
};

/** A path of names, as Vault's mounts and keys have it. */
const mountPath: Setting<string> = {
  parse: (raw) => {
    const names = raw.split("/");
    if (!names.every((name) => /^[A-Za-z0-9_.-]{1,100}$/.test(name) && !/^\.+$/.test(name))) {
      throw new Error("must be names of [A-Za-z0-9_.-], with slashes between them");
    }
    return raw;
  },
};

/** Who opens keys that are given wrapped, and how it is reached. */
export const keyManagementSettings = {
  /** `environment`: nobody, keys are given as they are. */
  KMS: withDefault(oneOf("environment", "vault-transit"), "environment"),
  VAULT_ADDR: optional(url("https", "http")),
  /** Who vouches for it; absent: the authorities that Node knows. */
  VAULT_CACERT: optional(certificateFile),
  VAULT_NAMESPACE: optional(mountPath),
  /** Either this, or the role and the pod's own token that it logs in with. */
  VAULT_TOKEN: optional(token),
  VAULT_KUBERNETES_ROLE: optional(mountPath),
  VAULT_KUBERNETES_JWT: optional(token),
  VAULT_KUBERNETES_MOUNT: withDefault(mountPath, "kubernetes"),
  VAULT_TRANSIT_MOUNT: withDefault(mountPath, "transit"),
  VAULT_TRANSIT_KEY: optional(mountPath),
} as const;

/** Settings whose keys are open. */
export type OpenedConfig<C> = Omit<C, keyof Settings | (typeof ringNames)[number]> & {
  readonly [R in Extract<keyof C, (typeof ringNames)[number]>]: KeyRing;
};

/**
 * The settings with their wrapped keys opened, one call for each.
 * @param firstPauseMs between tries; for tests
 * @throws ConfigError that says in a line for each key why it cannot be opened, or that the keys are not fit
 */
export async function withOpenKeys<C extends Settings & { readonly ENCRYPTION_KEYS: ConfiguredKeys }>(
  config: C,
  firstPauseMs?: number,
): Promise<OpenedConfig<C>> {
  const management = keyManagementOf(config);
  try {
    const opened: Record<string, KeyRing> = {};
    for (const name of ringNames) {
      const configured: unknown = Reflect.get(config, name);
      if (configured instanceof Map) opened[name] = await openRing(management, name, configured, firstPauseMs);
    }
    const keys = Object.values(opened).flatMap((ring) => [...ring.values()].map(String));
    if (ringNames.some((name) => hasWrapped(Reflect.get(config, name))) && new Set(keys).size < keys.length) {
      throw new ConfigError("ENCRYPTION_KEYS and HASH_KEY must be different keys, also when they are opened");
    }
    return { ...config, ...opened } as OpenedConfig<C>;
  } finally {
    await management.close();
  }
}

async function openRing(
  management: KeyManagement,
  name: string,
  configured: ConfiguredKeys,
  firstPauseMs?: number,
): Promise<KeyRing> {
  const ring = new Map<string, Buffer>();
  for (const [id, key] of configured) {
    try {
      ring.set(id, isWrapped(key) ? await tryAgain(() => management.unwrap(key), firstPauseMs) : key);
    } catch (error) {
      if (!(error instanceof KeyManagementError)) throw error;
      throw new ConfigError(`${name}: key ${id === "" ? "without a name" : id} cannot be opened: ${error.message}`);
    }
  }
  return ring;
}

type Settings = ConfigValues<typeof keyManagementSettings>;

/**
 * Settings that belong together and do not fit; a line each. Those that a program does not have, or that cannot be
 * read, are absent.
 */
export function keyManagementProblems(values: Readonly<Record<string, unknown>>): string[] {
  if (values.KMS !== "vault-transit") {
    const wrapped = ringNames.filter((name) => hasWrapped(values[name]));
    return wrapped.map((name) => `${name} has a wrapped key: KMS must say who opens it`);
  }
  const missing = (["VAULT_ADDR", "VAULT_TRANSIT_KEY"] as const).filter((name) => values[name] === undefined);
  const logins = [values.VAULT_TOKEN, values.VAULT_KUBERNETES_ROLE].filter((each) => each !== undefined).length;
  const hasJwt = values.VAULT_KUBERNETES_ROLE === undefined || values.VAULT_KUBERNETES_JWT !== undefined;
  return [
    ...missing.map((name) => `${name} is missing: KMS is vault-transit`),
    ...(logins === 1 ? [] : ["VAULT_TOKEN or VAULT_KUBERNETES_ROLE must be set, and not both: KMS is vault-transit"]),
    ...(hasJwt ? [] : ["VAULT_KUBERNETES_JWT is missing: VAULT_KUBERNETES_ROLE is set"]),
  ];
}

const ringNames = ["ENCRYPTION_KEYS", "HASH_KEY"] as const;

function hasWrapped(ring: unknown): boolean {
  return ring instanceof Map && [...ring.values()].some(isWrapped);
}

/** Who keeps the key around our keys. @throws ConfigError */
export function keyManagementOf(settings: Settings): KeyManagement {
  const problems = keyManagementProblems(settings);
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return settings.KMS === "vault-transit" ? new VaultTransit(settings) : environment;
}
