// Opens wrapped keys once at start by the key management service. Without it a process does not start; running
// processes keep their keys.
import {
  ConfigError,
  type ConfigValues,
  matchingText,
  oneOf,
  optionalSetting,
  type Setting,
  urlSetting,
  withDefault,
} from "#platform/process/config.ts";
import { certificateFile } from "./certificate-file.ts";
import { environment, type KeyManagement, KeyManagementError, tryAgain, VaultTransit } from "./key-management.ts";
import { type ConfiguredKeys, isWrapped, type KeyRing } from "./key-ring.ts";

/** One word that fits into a header. */
const token = matchingText(/^[\x21-\x7e]{1,8192}$/, "must be one line without spaces");

/** A path as in Vault's mounts and keys. */
const mountPath: Setting<string> = {
  parse: (raw) => {
    const names = raw.split("/");
    if (!names.every((name) => /^[A-Za-z0-9_.-]{1,100}$/.test(name) && !/^\.+$/.test(name))) {
      throw new Error("must be names of [A-Za-z0-9_.-], with slashes between them");
    }
    return raw;
  },
};

/** The key management service and how to reach it. */
export const keyManagementSettings = {
  /** `environment`: keys are configured in plain text. */
  KMS: withDefault(oneOf("environment", "vault-transit"), "environment"),
  VAULT_ADDR: optionalSetting(urlSetting("https", "http")),
  /** CA file; absent for Node's own list. */
  VAULT_CACERT: optionalSetting(certificateFile),
  VAULT_NAMESPACE: optionalSetting(mountPath),
  /** Set this, or the role with the pod's own token. */
  VAULT_TOKEN: optionalSetting(token),
  VAULT_KUBERNETES_ROLE: optionalSetting(mountPath),
  VAULT_KUBERNETES_JWT: optionalSetting(token),
  VAULT_KUBERNETES_MOUNT: withDefault(mountPath, "kubernetes"),
  VAULT_TRANSIT_MOUNT: withDefault(mountPath, "transit"),
  VAULT_TRANSIT_KEY: optionalSetting(mountPath),
} as const;

/** Settings whose keys are open. */
export type OpenedConfig<C> = Omit<C, keyof Settings | (typeof ringNames)[number]> & {
  readonly [R in Extract<keyof C, (typeof ringNames)[number]>]: KeyRing;
};

/**
 * Opens the wrapped keys of the settings, one call each.
 * @param firstPauseMs between tries; for tests
 * @throws ConfigError with one line per key that cannot be opened, or when keys repeat
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
      throw new ConfigError("ENCRYPTION_KEYS and HASH_KEY must be different keys, also after unwrapping");
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

/** Settings that contradict each other, one line each. Settings that are absent or unreadable are ignored. */
export function keyManagementProblems(values: Readonly<Record<string, unknown>>): string[] {
  if (values.KMS !== "vault-transit") {
    const wrapped = ringNames.filter((name) => hasWrapped(values[name]));
    return wrapped.map((name) => `${name} has a wrapped key: KMS must name the service that unwraps it`);
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

/** @throws ConfigError */
function keyManagementOf(settings: Settings): KeyManagement {
  const problems = keyManagementProblems(settings);
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return settings.KMS === "vault-transit" ? new VaultTransit(settings) : environment;
}
