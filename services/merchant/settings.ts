// What the merchant process reads from its environment.

import { integer, optional, type Setting, text, url } from "#platform/process/config.ts";
import { providerSettings, serviceSettings } from "#platform/service/settings.ts";
import { isEmail } from "#platform/values/email.ts";

/** Where people's browsers reach a console: an https origin, or http on this machine. Passkeys need a name for it. */
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

/** One address, with or without a name: nothing that a mail's head could be broken by. */
const sender: Setting<string> = {
  parse: (raw) => {
    const address = /^[^<>"\p{C}]{0,100}<([^<>\s]+)>$/u.exec(raw)?.[1] ?? raw;
    if (!isEmail(address)) throw new Error("must be an e-mail address, or a name with one in <>");
    return raw;
  },
};

export const merchantSettings = {
  ...serviceSettings,
  /** Credentials of every simulator account: the simulator's operator gave them to us. */
  SIMULATOR_SECRET_KEY: text,
  SIMULATOR_WEBHOOK_SECRET: text,
} as const;

/** What it reads besides for people who work in the consoles; none of it need be set. */
export const peopleSettings = {
  /** The merchants' console; without it nobody signs in there. */
  CONSOLE_ORIGIN: optional(consoleOrigin),
  /** The operators' console; likewise. */
  OPERATORS_CONSOLE_ORIGIN: optional(consoleOrigin),
  /** Where mail is given to be sent: smtp:// with STARTTLS, or smtps://; without it none is. */
  SMTP_URL: optional(url("smtp", "smtps")),
  /** Who it is from: an address, or `Name <address>`. Belongs to SMTP_URL. */
  MAIL_FROM: optional(sender),
  /** Receipts by mail of a merchant within an hour, in live. */
  RECEIPTS_PER_HOUR: optional(integer(1, 100_000)),
  ...providerSettings,
} as const;
