// Settings of the checkout service.
import { integerSetting, optionalSetting, type Setting, urlSetting, withDefault } from "#platform/process/config.ts";
import { callerSettings, idempotencySettings, serviceSettings } from "#platform/service/settings.ts";
import { archiveSettings } from "../archive/settings.ts";

/** Origin of the hosted checkout page: https, or http on this machine. */
const pageOrigin: Setting<string> = {
  parse: (raw) => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal = parsed?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(parsed.hostname);
    const isOrigin = parsed?.pathname === "/" && parsed.search === "" && parsed.hash === "" && parsed.username === "";
    if (!parsed || !isOrigin || !(isLocal || parsed.protocol === "https:")) {
      throw new Error("must be an https origin, or http://localhost or http://127.0.0.1 with a port, without a path");
    }
    return parsed.origin;
  },
};

export const checkoutSettings = {
  ...serviceSettings,
  ...idempotencySettings,
  ...callerSettings,
  ...archiveSettings,
  /** RPC address of the payments service. */
  PAYMENTS_URL: urlSetting("http", "https"),
  /** RPC address of the merchant service; absent: no receipts by e-mail. */
  MERCHANT_URL: optionalSetting(urlSetting("http", "https")),
  /** Absent: sessions have no checkout_url. */
  CHECKOUT_ORIGIN: optionalSetting(pageOrigin),
  /** How long backups are kept; an erasure's answer names the day. Events keep sealed copies for eight days. */
  BACKUP_DAYS: withDefault(integerSetting(8, 3_650), 30),
  /** When a session that was never paid is deleted, counted from its end. Its risk data ends within 90 days. */
  RETENTION_UNPAID_SESSION_DAYS: withDefault(integerSetting(120, 3_650), 400),
} as const;
