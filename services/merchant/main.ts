// The merchant process.
import { runProcess } from "#platform/process.ts";
import { readProductionConfig } from "#platform/production.ts";
import { startMerchant } from "./service.ts";
import { merchantSettings } from "./settings.ts";

await runProcess("merchant", () => startMerchant(readProductionConfig(merchantSettings)));
