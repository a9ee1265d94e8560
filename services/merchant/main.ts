// The merchant process.

import { runProcess } from "#platform/process/process.ts";
import { withOpenKeys } from "#platform/secrets/open-keys.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { startMerchant } from "./service.ts";
import { merchantSettings, peopleSettings } from "./settings.ts";

await runProcess(
  "merchant",
  () => readProductionConfig({ ...merchantSettings, ...peopleSettings }),
  async (config, host) => startMerchant(await withOpenKeys(config), host),
);
