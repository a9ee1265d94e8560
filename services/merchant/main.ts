// The merchant process.
import { withOpenKeys } from "#platform/open-keys.ts";
import { runProcess } from "#platform/process.ts";
import { readProductionConfig } from "#platform/production.ts";
import { startMerchant } from "./service.ts";
import { merchantSettings } from "./settings.ts";

await runProcess("merchant", async () => startMerchant(await withOpenKeys(readProductionConfig(merchantSettings))));
