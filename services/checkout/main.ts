// The checkout process.
import { withOpenKeys } from "#platform/open-keys.ts";
import { runProcess } from "#platform/process.ts";
import { readProductionConfig } from "#platform/production.ts";
import { startCheckout } from "./service.ts";
import { checkoutSettings } from "./settings.ts";

await runProcess("checkout", async () => startCheckout(await withOpenKeys(readProductionConfig(checkoutSettings))));
