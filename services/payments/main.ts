// The payments process.
import { readConfig } from "#platform/config.ts";
import { runProcess } from "#platform/process.ts";
import { startPayments } from "./service.ts";
import { paymentsSettings } from "./settings.ts";

await runProcess("payments", () => startPayments(readConfig(paymentsSettings)));
