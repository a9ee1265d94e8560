// The checkout process.
import { withOpenKeys } from "#platform/process/open-keys.ts";
import { runProcess } from "#platform/process/process.ts";
import { readProductionConfig } from "#platform/process/production.ts";
import { startCheckout } from "./service.ts";
import { checkoutSettings } from "./settings.ts";

await runProcess(
  "checkout",
  () => readProductionConfig(checkoutSettings),
  async (config, host) => startCheckout(await withOpenKeys(config), host),
);
