// The payments process.
import { runProcess } from "#platform/process.ts";
import { startPayments } from "./service.ts";
import { readPaymentsConfig } from "./settings.ts";

await runProcess("payments", () => startPayments(readPaymentsConfig()));
