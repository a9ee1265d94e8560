// Starts the merchants' console, or the operators' with CONSOLE_DOOR=operators.
import { runProcess } from "#platform/process/process.ts";
import { startConsole } from "./server.ts";
import { readConsoleConfig } from "./settings.ts";

// Metrics, spans and logs distinguish the two by name.
const name = process.env.CONSOLE_DOOR === "operators" ? "operators-console" : "console";
await runProcess(name, readConsoleConfig, (config, host) => startConsole(name, config, host));
