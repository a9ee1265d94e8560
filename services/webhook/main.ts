// The webhook process.
import { withOpenKeys } from "#platform/process/open-keys.ts";
import { runProcess } from "#platform/process/process.ts";
import { startWebhook } from "./service.ts";
import { readWebhookConfig } from "./settings.ts";

await runProcess("webhook", readWebhookConfig, async (config, host) => startWebhook(await withOpenKeys(config), host));
