// The webhook process.
import { runProcess } from "#platform/process.ts";
import { startWebhook } from "./service.ts";
import { readWebhookConfig } from "./settings.ts";

await runProcess("webhook", () => startWebhook(readWebhookConfig()));
