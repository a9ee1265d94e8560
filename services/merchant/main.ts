// The merchant process.
import { readConfig } from "#platform/config.ts";
import { runProcess } from "#platform/process.ts";
import { startMerchant } from "./service.ts";
import { merchantSettings } from "./settings.ts";

await runProcess("merchant", () => startMerchant(readConfig(merchantSettings)));
