// The checkout process.
import { runProcess } from "#platform/process.ts";
import { readProductionConfig } from "#platform/production.ts";
import { startCheckout } from "./service.ts";
import { checkoutSettings } from "./settings.ts";

await runProcess("checkout", () => startCheckout(readProductionConfig(checkoutSettings)));
