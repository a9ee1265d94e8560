// A console's process: the merchants' or, by CONSOLE_DOOR, the operators'.
import { runProcess } from "#platform/process/process.ts";
import { startConsole } from "./server.ts";
import { readConsoleConfig } from "./settings.ts";

// Two processes to those who watch them, by their metrics, spans and logs.
const name = process.env.CONSOLE_DOOR === "operators" ? "operators-console" : "console";
await runProcess(name, readConsoleConfig, (config, host) => startConsole(name, config, host));
