// Checks of production mode (NODE_ENV=production) at the start, reported together: leftovers of a trial, and settings
// that would let others on the network read or change money. ALLOW_… settings state what replaces TLS.
import {
  ConfigError,
  type ConfigValues,
  type Environment,
  parseConfig,
  productionSettings,
  type Setting,
} from "#platform/process/config.ts";
import { neighbourIn } from "#platform/process/host.ts";
import { keyPairProblems } from "#platform/secrets/certificate-file.ts";
import { keyManagementProblems } from "#platform/secrets/open-keys.ts";
import { sources } from "../../services.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads the settings of a program that handles money.
 * @param refuse further production checks of this program; missing and malformed settings are absent
 * @throws ConfigError with everything missing, malformed or refused
 */
export function readProductionConfig<S extends Record<string, Setting<unknown>>>(
  settings: S,
  env: Environment = process.env,
  refuse: (config: Partial<ConfigValues<S>>) => readonly string[] = () => [],
): ConfigValues<S> {
  const { values, problems } = parseConfig({ ...productionSettings, ...settings }, env);
  problems.push(...keyManagementProblems(values), ...keyPairProblems(values));
  if (values.NODE_ENV === "production") problems.push(...findProductionProblems(values, env), ...refuse(values));
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return values as ConfigValues<S>;
}

/** A line for each setting that production refuses; never its value. */
function findProductionProblems(values: Values, env: Environment): readonly string[] {
  const refused: string[] = [];
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    refused.push("NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in production: it accepts every certificate");
  }
  if (values.RATE_LIMIT === "off") refused.push("RATE_LIMIT must not be off in production");
  if (values.LOCAL_STACK === "on") refused.push("LOCAL_STACK must not be on in production: /docs would ask for keys");
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== "string") continue;
    if (name === "NATS_URL" && !value.startsWith("tls:") && !values.ALLOW_PLAIN_NATS) {
      refused.push("NATS_URL must begin with tls:// in production, or ALLOW_PLAIN_NATS must name the replacement");
    }
    if (name === "VAULT_ADDR" && !value.startsWith("https:")) {
      refused.push("VAULT_ADDR must begin with https:// in production: keys are sent to it");
    }
    if (name.endsWith("DATABASE_URL") && !hasTls(value) && !values.ALLOW_PLAIN_DATABASE) {
      refused.push(
        `${name} must have sslmode=verify-full in production, or ALLOW_PLAIN_DATABASE must name the replacement`,
      );
    }
    if (browsersOrigins.includes(name) && isLoopback(value) && !values.ALLOW_LOOPBACK_ORIGIN) {
      refused.push(
        `${name} must not be an address of the browser's own machine in production, unless ALLOW_LOOPBACK_ORIGIN gives the reason`,
      );
    }
  }
  return [...refused, ...plainRpcProblems(values), ...authenticationProblems(values), ...keyProblems(values)];
}

const peerUrls = sources.map((name) => `${name.toUpperCase()}_URL`);

/** Calls between services that leave the machine without TLS. */
function plainRpcProblems(values: Values): readonly string[] {
  if (values.ALLOW_PLAIN_RPC) return [];
  const serves = "RPC_TLS_CERT_FILE" in values && values.RPC_TLS_CERT_FILE === undefined;
  const isPlain = (name: string) => {
    const url = values[name];
    return typeof url === "string" && url.startsWith("http:") && neighbourIn(url) === undefined && !isLoopback(url);
  };
  return [
    ...(serves && !/^(localhost|127\..+|::1)$/.test(String(values.HOST)) ? ["RPC_TLS_CERT_FILE must be set"] : []),
    ...peerUrls.filter(isPlain).map((name) => `${name} must begin with https://`),
  ].map((problem) => `${problem} in production, or ALLOW_PLAIN_RPC must name the replacement`);
}

/** A broker without authentication, and events without proof of their source. Settings of other programs are absent. */
function authenticationProblems(values: Values): readonly string[] {
  const isUnset = (name: string) => name in values && values[name] === undefined;
  const hasLogin = typeof values.NATS_URL === "string" && new URL(values.NATS_URL).username !== "";
  return [
    ...(isUnset("EVENT_KEYS_FILE")
      ? ["EVENT_KEYS_FILE must be set in production: without it events are not verified"]
      : []),
    ...(isUnset("NATS_NKEY_FILE") && !hasLogin
      ? [
          "NATS_NKEY_FILE must be set in production, or NATS_URL must contain a login: the broker must authenticate this process",
        ]
      : []),
  ];
}

/** Origins that browsers of buyers, merchants and operators are sent to. */
const browsersOrigins = ["CHECKOUT_ORIGIN", "SIMULATOR_PUBLIC_URL", "CONSOLE_ORIGIN", "OPERATORS_CONSOLE_ORIGIN"];

/** Modes in which the client requires TLS. */
function hasTls(databaseUrl: string): boolean {
  const mode = new URL(databaseUrl).searchParams.get("sslmode") ?? "";
  return ["require", "verify-ca", "verify-full"].includes(mode);
}

function isLoopback(origin: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/.test(new URL(origin).hostname);
}

/** Of 32 random bytes about 30 differ; fewer than this is practically impossible. */
const differentBytesMin = 16;

function keyProblems({ HASH_KEY, ENCRYPTION_KEYS }: Values): readonly string[] {
  const keysOf = (ring: unknown): unknown[] => (ring instanceof Map ? [...ring.values()] : []);
  const [hashing, sealing] = [keysOf(HASH_KEY), keysOf(ENCRYPTION_KEYS)];
  const isRandom = (key: unknown) => !Buffer.isBuffer(key) || new Set(key).size >= differentBytesMin;
  const problems: string[] = [];
  if (!hashing.every(isRandom)) problems.push("HASH_KEY must be random in production (openssl rand -base64 32)");
  if (!sealing.every(isRandom)) problems.push("ENCRYPTION_KEYS must be random in production (openssl rand -base64 32)");
  if (isRepeated(hashing)) problems.push("HASH_KEY must be different keys in production");
  if (isRepeated([...new Set(hashing.map(String)), ...sealing])) {
    problems.push("ENCRYPTION_KEYS must be different from each other and from HASH_KEY in production");
  }
  return problems;
}

function isRepeated(keys: readonly unknown[]): boolean {
  return new Set(keys.map(String)).size < keys.length;
}
