// The payments process.
import { withOpenKeys } from "#platform/process/open-keys.ts";
import { runProcess } from "#platform/process/process.ts";
import { startPayments } from "./service.ts";
import { readPaymentsConfig } from "./settings.ts";

await runProcess("payments", readPaymentsConfig, async (config, host) =>
  startPayments(await withOpenKeys(config), host),
);
