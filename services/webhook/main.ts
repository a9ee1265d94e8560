// The webhook process.

import { runProcess } from "#platform/process/process.ts";
import { withOpenKeys } from "#platform/secrets/open-keys.ts";
import { startWebhook } from "./service.ts";
import { readWebhookConfig } from "./settings.ts";

await runProcess("webhook", readWebhookConfig, async (config, host) => startWebhook(await withOpenKeys(config), host));
