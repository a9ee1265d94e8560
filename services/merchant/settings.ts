// The settings of the merchant service.
import { integerSetting, optionalSetting, type Setting, text, urlSetting } from "#platform/process/config.ts";
import { providerSettings, safeUrl, serviceSettings } from "#platform/service/settings.ts";
import { isEmail } from "#platform/values/email.ts";

/** A console's origin: https, or http on this machine. Passkeys need a host name. */
const consoleOrigin: Setting<string> = {
  parse: (raw) => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal = parsed?.protocol === "http:" && parsed.hostname === "localhost";
    const isOrigin = parsed?.pathname === "/" && parsed.search === "" && parsed.hash === "" && parsed.username === "";
    const isNamed = parsed && !/^[\d.]+$|^\[/.test(parsed.hostname);
    if (!parsed || !isOrigin || !isNamed || !(isLocal || parsed.protocol === "https:")) {
      throw new Error("must be an https origin with a name, or http://localhost with a port, without a path");
    }
    return parsed.origin;
  },
};

/** One address with an optional name, and no character that could inject a mail header. */
const sender: Setting<string> = {
  parse: (raw) => {
    const address = /^[^<>"\p{C}]{0,100}<([^<>\s]+)>$/u.exec(raw)?.[1] ?? raw;
    if (!isEmail(address)) throw new Error("must be an e-mail address, or a name with one in <>");
    return raw;
  },
};

/** `<team>=<namespace>/<service account>`, comma-separated; the team by workload. */
const workloads: Setting<ReadonlyMap<string, string>> = {
  parse: (raw) => {
    const pairs = raw.split(",").map((pair): [string, string] => {
      const [, team = "", workload = ""] = workloadForm.exec(pair.trim()) ?? [];
      if (team === "") throw new Error("must be <team>=<namespace>/<service account>, comma-separated");
      return [workload, team];
    });
    if (new Map(pairs).size < pairs.length) throw new Error("must name each service account once");
    return new Map(pairs);
  },
};
const workloadForm = /^([a-z][a-z0-9-]{0,31})=([a-z0-9-]{1,63}\/[a-z0-9.-]{1,253})$/;

export const merchantSettings = {
  ...serviceSettings,
  /** Credentials of every simulator account. */
  SIMULATOR_SECRET_KEY: text,
  SIMULATOR_WEBHOOK_SECRET: text,
} as const;

/** Optional settings for the people of the consoles. */
export const peopleSettings = {
  /** The merchants' console; sign-in is disabled without it. */
  CONSOLE_ORIGIN: optionalSetting(consoleOrigin),
  /** The operators' console; sign-in is disabled without it. */
  OPERATORS_CONSOLE_ORIGIN: optionalSetting(consoleOrigin),
  /** Mail server: smtp:// with STARTTLS, or smtps://. Mail is disabled without it. */
  SMTP_URL: optionalSetting(urlSetting("smtp", "smtps")),
  /** The sender: an address, or `Name <address>`. Required with SMTP_URL. */
  MAIL_FROM: optionalSetting(sender),
  /** Limit of receipts per merchant in live. */
  RECEIPTS_PER_HOUR: optionalSetting(integerSetting(1, 100_000)),
  ...providerSettings,
  /** The cluster whose service accounts may be teams; all three or none. The issuer is exactly as in its tokens. */
  KUBERNETES_ISSUER: optionalSetting(text),
  KUBERNETES_JWKS_URL: optionalSetting(safeUrl),
  KUBERNETES_TEAMS: optionalSetting(workloads),
} as const;
