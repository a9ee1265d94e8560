// A console's process: the merchants' or, by CONSOLE_DOOR, the operators'.
import { runProcess } from "#platform/process/process.ts";
import { startConsole } from "./server.ts";
import { readConsoleConfig } from "./settings.ts";

await runProcess("console", readConsoleConfig, startConsole);
