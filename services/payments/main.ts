// Starts the payments process.
import { runProcess } from "#platform/process/process.ts";
import { withOpenKeys } from "#platform/secrets/open-keys.ts";
import { startPayments } from "./service.ts";
import { readPaymentsConfig } from "./settings.ts";

await runProcess("payments", readPaymentsConfig, async (config, host) =>
  startPayments(await withOpenKeys(config), host),
);
