// The webhook process.
import { withOpenKeys } from "#platform/open-keys.ts";
import { runProcess } from "#platform/process.ts";
import { startWebhook } from "./service.ts";
import { readWebhookConfig } from "./settings.ts";

await runProcess("webhook", async () => startWebhook(await withOpenKeys(readWebhookConfig())));
