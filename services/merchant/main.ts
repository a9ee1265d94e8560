// The merchant process.
import { withOpenKeys } from "#platform/process/open-keys.ts";
import { runProcess } from "#platform/process/process.ts";
import { readProductionConfig } from "#platform/process/production.ts";
import { startMerchant } from "./service.ts";
import { merchantSettings } from "./settings.ts";

await runProcess(
  "merchant",
  () => readProductionConfig(merchantSettings),
  async (config) => startMerchant(await withOpenKeys(config)),
);
