// What the merchant process reads from its environment.
import { serviceSettings, text } from "#platform/process/config.ts";

export const merchantSettings = {
  ...serviceSettings,
  /** Credentials of every simulator account: the simulator's operator gave them to us. */
  SIMULATOR_SECRET_KEY: text,
  SIMULATOR_WEBHOOK_SECRET: text,
} as const;
