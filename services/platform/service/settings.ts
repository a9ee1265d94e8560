// Settings that several programs share: the broker's, each service's, and the identity provider's.
import { eventKeysFile } from "#platform/events/event-keys.ts";
import {
  integerSetting,
  logLevels,
  matchingText,
  oneOf,
  optionalSetting,
  port,
  type Setting,
  text,
  urlSetting,
  withDefault,
} from "#platform/process/config.ts";
import { callersFile, tokenFile } from "#platform/secrets/callers.ts";
import { assertTlsFiles, certificateFile, privateKeyFile } from "#platform/secrets/certificate-file.ts";
import { encryptionKeys, hashKeys } from "#platform/secrets/key-ring.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { keyManagementSettings } from "#platform/secrets/open-keys.ts";

/** A PostgreSQL URL; its TLS files are checked. */
const databaseUrl: Setting<string> = {
  parse: (raw) => {
    const read = urlSetting("postgres", "postgresql").parse(raw);
    assertTlsFiles(read);
    return read;
  },
};

/** For every process that uses the broker. */
export const brokerSettings = {
  NATS_URL: urlSetting("nats", "tls"),
  /** The process's identity at the broker; absent for a login in the URL, or none. */
  NATS_NKEY_FILE: optionalSetting(nkeyFile),
  /** CA file for tls://; absent for Node's own list. */
  NATS_CA_FILE: optionalSetting(certificateFile),
  NATS_NAMESPACE: withDefault(matchingText(/^[a-z][a-z0-9_-]{0,31}$/, "must match [a-z][a-z0-9_-]{0,31}"), "tollbooth"),
} as const;

/** For every service and the gateway. */
export const commonSettings = {
  PORT: port,
  HOST: withDefault(text, "127.0.0.1"),
  LOG_LEVEL: withDefault(oneOf(...logLevels), "info"),
  ...brokerSettings,
  /** Keys that prove an event's source; without them events are not verified. */
  EVENT_KEYS_FILE: optionalSetting(eventKeysFile),
} as const;

/** For programs that create event streams. */
export const streamSettings = {
  /** Copies of each stream: 1 on a single server, 3 or 5 in a cluster. */
  NATS_REPLICAS: withDefault(integerSetting(1, 5), 1),
  /**
   * Size of a stream for its seven days before it refuses events, GiB. `migrate` only enlarges it; the servers' volumes
   * need room for four.
   */
  NATS_STREAM_GIB: withDefault(integerSetting(1, 4096), 4),
  /**
   * Redelivery time for events of a crashed process; a working process may take longer. Must be the same everywhere.
   */
  EVENT_ACK_WAIT_SECONDS: withDefault(integerSetting(1, 600), 10),
} as const;

/** For every service with a database. */
export const serviceSettings = {
  ...commonSettings,
  ...streamSettings,
  ...keyManagementSettings,
  DATABASE_URL: databaseUrl,
  /** Most connections of one process. Below four, a few slow statements would block all others. */
  DATABASE_CONNECTIONS: withDefault(integerSetting(4, 200), 16),
  ENCRYPTION_KEYS: encryptionKeys,
  HASH_KEY: hashKeys,
  /** Callers allowed to call this service. */
  RPC_CALLERS_FILE: callersFile,
  /** Certificate and key of its RPC port; absent: plain HTTP. */
  RPC_TLS_CERT_FILE: optionalSetting(certificateFile),
  RPC_TLS_KEY_FILE: optionalSetting(privateKeyFile),
} as const;

/** For processes that call services. */
export const callerSettings = {
  /** The token sent with calls. */
  RPC_TOKEN_FILE: tokenFile,
  /** CA file for https:// addresses of services; absent for Node's own list. */
  RPC_CA_FILE: optionalSetting(certificateFile),
} as const;

/** For services that honour idempotency keys. */
export const idempotencySettings = {
  // Longer than any request; a crashed process holds an idempotency key no longer than this (docs/contract.md §6).
  IDEMPOTENCY_LEASE_SECONDS: withDefault(integerSetting(1, 600), 90),
} as const;

/** https, or http on this machine. */
export const safeUrl: Setting<string> = {
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
  /** The identity provider's issuer, exactly as in its tokens; without it people cannot sign in by a provider. */
  OIDC_ISSUER: optionalSetting(safeUrl),
  /** The consoles' client id there. Requires OIDC_ISSUER. */
  OIDC_CLIENT_ID: optionalSetting(text),
} as const;

/** @returns undefined when no provider is configured @throws when only half is configured */
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
