// Settings that several programs share: the broker's, each service's, and the identity provider's.
import { eventKeysFile } from "#platform/events/event-keys.ts";
import {
  integer,
  logLevels,
  oneOf,
  optional,
  port,
  type Setting,
  text,
  url,
  withDefault,
} from "#platform/process/config.ts";
import { callersFile, tokenFile } from "#platform/secrets/callers.ts";
import { assertTlsFiles, certificateFile } from "#platform/secrets/certificate-file.ts";
import { encryptionKeys, hashKeys } from "#platform/secrets/key-ring.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { keyManagementSettings } from "#platform/secrets/open-keys.ts";

/** A PostgreSQL database, with what its URL names for TLS. */
const databaseUrl: Setting<string> = {
  parse: (raw) => {
    const read = url("postgres", "postgresql").parse(raw);
    assertTlsFiles(read);
    return read;
  },
};

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

/** https, or http on this machine. */
const issuer: Setting<string> = {
  parse: (raw) => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal = parsed?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(parsed.hostname);
    if (parsed?.search !== "" || parsed.hash !== "" || !(isLocal || parsed.protocol === "https:")) {
      throw new Error("must be an https address without a query, or http on this machine");
    }
    return raw;
  },
};

export const providerSettings = {
  /** The identity provider that people may sign in by, exactly as its tokens name it; without it they do not. */
  OIDC_ISSUER: optional(issuer),
  /** What it calls the consoles. Belongs to OIDC_ISSUER. */
  OIDC_CLIENT_ID: optional(text),
} as const;

/** @returns undefined: nobody signs in by one. @throws when half of it is set */
export function providerOf({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
}: {
  readonly OIDC_ISSUER?: string | undefined;
  readonly OIDC_CLIENT_ID?: string | undefined;
}): { readonly issuer: string; readonly clientId: string } | undefined {
  if ((issuer === undefined) !== (clientId === undefined)) {
    throw new Error("OIDC_ISSUER and OIDC_CLIENT_ID belong together");
  }
  return issuer === undefined || clientId === undefined ? undefined : { issuer, clientId };
}
