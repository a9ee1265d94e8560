// The payments process.
import { withOpenKeys } from "#platform/open-keys.ts";
import { runProcess } from "#platform/process.ts";
import { startPayments } from "./service.ts";
import { readPaymentsConfig } from "./settings.ts";

await runProcess("payments", async () => startPayments(await withOpenKeys(readPaymentsConfig())));
