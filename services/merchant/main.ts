// The merchant process.
import { withOpenKeys } from "#platform/process/open-keys.ts";
import { runProcess } from "#platform/process/process.ts";
import { readProductionConfig } from "#platform/process/production.ts";
import { startMerchant } from "./service.ts";
import { merchantSettings, peopleSettings } from "./settings.ts";

await runProcess(
  "merchant",
  () => readProductionConfig({ ...merchantSettings, ...peopleSettings }),
  async (config, host) => startMerchant(await withOpenKeys(config), host),
);
