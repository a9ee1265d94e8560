// Starts the checkout process.
import { runProcess } from "#platform/process/process.ts";
import { withOpenKeys } from "#platform/secrets/open-keys.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { startCheckout } from "./service.ts";
import { checkoutSettings } from "./settings.ts";

await runProcess(
  "checkout",
  () => readProductionConfig(checkoutSettings),
  async (config, host) => startCheckout(await withOpenKeys(config), host),
);
