// The checkout process.
import { readConfig } from "#platform/config.ts";
import { runProcess } from "#platform/process.ts";
import { startCheckout } from "./service.ts";
import { checkoutSettings } from "./settings.ts";

await runProcess("checkout", () => startCheckout(readConfig(checkoutSettings)));
