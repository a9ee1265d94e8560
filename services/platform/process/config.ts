// Reads a process's settings from its environment once at start. All missing and malformed names are reported together,
// without values, which may be secret. NAME_FILE names a file with the value of NAME, for mounted secrets.
import { readFileSync } from "node:fs";

/** `parse` gets the raw text and throws a short reason ("must be ...") if it is invalid. */
export interface Setting<T> {
  readonly parse: (raw: string) => T;
  readonly fallback?: T;
  readonly optional?: true;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type ConfigValues<S extends Record<string, Setting<unknown>>> = {
  [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/** Settings are missing or malformed. `message` has one line for each. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** @throws ConfigError with every missing or malformed setting */
export function readConfig<S extends Record<string, Setting<unknown>>>(
  settings: S,
  env: Environment = process.env,
): ConfigValues<S> {
  const { values, problems } = parseConfig(settings, env);
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return values as ConfigValues<S>;
}

/** The values that are valid, and a line for each setting that is not. */
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

/** The setting's text, or the content of the NAME_FILE file without its last line end; undefined if neither is set. */
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

/** An absent setting is `undefined`. */
export function optionalSetting<T>(setting: Setting<T>): Setting<T | undefined> {
  return { parse: setting.parse, optional: true };
}

export function withDefault<T>(setting: Setting<T>, fallback: T): Setting<T> {
  return { parse: setting.parse, fallback };
}

/** Any non-empty text. */
export const text: Setting<string> = { parse: (raw) => raw };

/** A text of this form. @param problem of any other text: "must be …" */
export function matchingText(form: RegExp, problem: string): Setting<string> {
  return {
    parse: (raw) => {
      if (!form.test(raw)) throw new Error(problem);
      return raw;
    },
  };
}

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
export function integerSetting(min: number, max: number): Setting<number> {
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

/** A share from 0 to 1. */
export const share: Setting<number> = {
  parse: (raw) => {
    const value = Number(raw);
    if (!/^[01](\.\d+)?$/.test(raw) || value > 1) throw new Error("must be a number from 0 to 1");
    return value;
  },
};

/** A TCP port; 0 selects a free one. */
export const port: Setting<number> = integerSetting(0, 65_535);

/** A URL with one of the schemes, without a trailing slash. */
export function urlSetting(...schemes: readonly string[]): Setting<string> {
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

export const logLevels = ["debug", "info", "warn", "error"] as const;

/** A replacement of TLS (an encrypting mesh, a private network), or a trial installation without real money. */
const excuse = optionalSetting(oneOf("behind-mesh", "private-network", "for-trial"));

export const productionSettings = {
  NODE_ENV: withDefault(oneOf("production", "development", "test"), "development"),
  /** Why the connection to NATS needs no TLS. */
  ALLOW_PLAIN_NATS: excuse,
  /** Why the connection to PostgreSQL needs no TLS. */
  ALLOW_PLAIN_DATABASE: excuse,
  /** Why calls between services need no TLS. */
  ALLOW_PLAIN_RPC: excuse,
  /** Why browsers may be sent to an address of their own machine. */
  ALLOW_LOOPBACK_ORIGIN: excuse,
} as const;
