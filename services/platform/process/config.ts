// Reads a process's settings from its environment, once, at start. All missing or malformed names are reported
// together, so that an operator fixes them in one go; values that may be secret are never repeated in the message.
// NAME_FILE names a file that holds the value of NAME, for secrets that are mounted.
import { readFileSync } from "node:fs";
import { eventKeysFile } from "#platform/broker/event-keys.ts";
import { callersFile, tokenFile } from "#platform/secrets/callers.ts";
import { assertTlsFiles, certificateFile } from "#platform/secrets/certificate-file.ts";
import { encryptionKeys, hashKeys } from "#platform/secrets/key-ring.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";

/**
 * How one setting is read: `parse` gets the raw text and throws a short reason ("must be ...") when it does not fit.
 */
export interface Setting<T> {
  readonly parse: (raw: string) => T;
  readonly fallback?: T;
  readonly optional?: true;
}

/** Where settings are read. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of settings after reading. */
export type ConfigValues<S extends Record<string, Setting<unknown>>> = {
  [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/** A setting is missing or malformed. `message` names each, one a line. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/**
 * Reads the named settings.
 * @throws ConfigError that lists every setting that is missing or malformed.
 */
export function readConfig<S extends Record<string, Setting<unknown>>>(
  settings: S,
  env: Environment = process.env,
): ConfigValues<S> {
  const { values, problems } = parseConfig(settings, env);
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return values as ConfigValues<S>;
}

/** The values of the settings that can be read, and a line for each that cannot. */
export function parseConfig<S extends Record<string, Setting<unknown>>>(
  settings: S,
  env: Environment,
): { readonly values: Partial<ConfigValues<S>>; readonly problems: string[] } {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    try {
      const raw = rawValue(env, name);
      if (raw !== undefined) values[name] = setting.parse(raw);
      else if (setting.fallback !== undefined || setting.optional) values[name] = setting.fallback;
      else problems.push(`${name} is missing`);
    } catch (error) {
      problems.push(`${name} ${error instanceof Error ? error.message : "is malformed"}`);
    }
  }
  return { values: values as Partial<ConfigValues<S>>, problems };
}

/**
 * The text of the setting, or of the file that NAME_FILE names without the end of its last line; undefined: neither is
 * set.
 */
function rawValue(env: Environment, name: string): string | undefined {
  const raw = env[name] || undefined;
  const path = env[`${name}_FILE`] || undefined;
  if (path === undefined) return raw;
  if (raw !== undefined) throw new Error(`must not be set together with ${name}_FILE`);
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch {
    throw new Error(`cannot be read from ${name}_FILE`);
  }
}

/** The setting may be absent: its value is then `undefined`. */
export function optional<T>(setting: Setting<T>): Setting<T | undefined> {
  return { parse: setting.parse, optional: true };
}

/** The setting has a default. */
export function withDefault<T>(setting: Setting<T>, fallback: T): Setting<T> {
  return { parse: setting.parse, fallback };
}

/** Any text that is not empty. */
export const text: Setting<string> = { parse: (raw) => raw };

/** One of the given words. */
export function oneOf<const W extends string>(...words: readonly W[]): Setting<W> {
  return {
    parse: (raw) => {
      const choice = words.find((w) => w === raw);
      if (choice === undefined) throw new Error(`must be one of ${words.join(", ")}`);
      return choice;
    },
  };
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number): Setting<number> {
  return {
    parse: (raw) => {
      const value = Number(raw);
      if (!/^-?\d+$/.test(raw) || value < min || value > max) {
        throw new Error(`must be a whole number from ${min} to ${max}`);
      }
      return value;
    },
  };
}

/** A share, from 0 to 1. */
export const share: Setting<number> = {
  parse: (raw) => {
    const value = Number(raw);
    if (!/^[01](\.\d+)?$/.test(raw) || value > 1) throw new Error("must be a number from 0 to 1");
    return value;
  },
};

/** `name=value` pairs, comma-separated. */
export const pairs: Setting<Readonly<Record<string, string>>> = {
  parse: (raw) =>
    Object.fromEntries(
      raw.split(",").map((pair) => {
        const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
        if (name === "") throw new Error("must be name=value pairs, comma-separated");
        return [name, value];
      }),
    ),
};

/** A TCP port; 0 takes a free one. */
export const port: Setting<number> = integer(0, 65_535);

/** A URL with one of the given schemes, without a trailing slash. */
export function url(...schemes: readonly string[]): Setting<string> {
  return {
    parse: (raw) => {
      const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
      if (!parsed || !schemes.includes(parsed.protocol.slice(0, -1))) {
        throw new Error(`must be a URL that begins with ${schemes.map((s) => `${s}://`).join(" or ")}`);
      }
      return raw.replace(/\/+$/, "");
    },
  };
}

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

/** A PostgreSQL database, with what its URL names for TLS. */
const databaseUrl: Setting<string> = {
  parse: (raw) => {
    const read = url("postgres", "postgresql").parse(raw);
    assertTlsFiles(read);
    return read;
  },
};

export const logLevels = ["debug", "info", "warn", "error"] as const;

/** What every process that uses the broker reads. */
export const brokerSettings = {
  NATS_URL: url("nats", "tls"),
  /** Who the process is at the broker; absent: what the URL says, or nobody. */
  NATS_NKEY_FILE: optional(nkeyFile),
  /** Who vouches for a broker at tls://; absent: the authorities that Node knows. */
  NATS_CA_FILE: optional(certificateFile),
  NATS_NAMESPACE: withDefault<string>(
    {
      parse: (raw) => {
        if (!/^[a-z][a-z0-9_-]{0,31}$/.test(raw)) throw new Error("must match [a-z][a-z0-9_-]{0,31}");
        return raw;
      },
    },
    "tollbooth",
  ),
} as const;

/** What every service and the gateway read. */
export const commonSettings = {
  PORT: port,
  HOST: withDefault(text, "127.0.0.1"),
  LOG_LEVEL: withDefault(oneOf(...logLevels), "info"),
  ...brokerSettings,
  /** What proves whose an event is; absent: events are believed as they come. */
  EVENT_KEYS_FILE: optional(eventKeysFile),
} as const;

/** What makes event streams reads besides. */
export const streamSettings = {
  /** Copies of each stream: 1 on a single server, 3 or 5 in a cluster. */
  NATS_REPLICAS: withDefault(integer(1, 5), 1),
  /**
   * What a stream takes in seven days before it refuses more, GiB. `migrate` makes it larger, never smaller; the
   * servers' volumes must have room for four.
   */
  NATS_STREAM_GIB: withDefault(integer(1, 4096), 4),
  /** Events that a crashed process held come back after it; one that works may take longer. The same everywhere. */
  EVENT_ACK_WAIT_SECONDS: withDefault(integer(1, 600), 10),
} as const;

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

/** What every service with a database reads besides. */
export const serviceSettings = {
  ...commonSettings,
  ...streamSettings,
  ...keyManagementSettings,
  DATABASE_URL: databaseUrl,
  /**
   * Most connections of one process to its database. Below four, a few slow statements would keep all others waiting.
   */
  DATABASE_CONNECTIONS: withDefault(integer(4, 200), 16),
  ENCRYPTION_KEYS: encryptionKeys,
  HASH_KEY: hashKeys,
  /** Whose calls are answered. */
  RPC_CALLERS_FILE: callersFile,
} as const;

/** What a process that calls others reads besides. */
export const callerSettings = {
  /** The token that its calls carry. */
  RPC_TOKEN_FILE: tokenFile,
} as const;

/** What a service that honours idempotency keys reads besides. */
export const idempotencySettings = {
  // Longer than any request takes; a crashed process holds an idempotency key no longer than this (docs/contract.md
  // §6).
  IDEMPOTENCY_LEASE_SECONDS: withDefault(integer(1, 600), 90),
} as const;
