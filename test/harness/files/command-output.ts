// Runs a command of the project to its end and answers what it printed.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * All that it prints, and its exit code; ended by force when it takes too long.
 * @param command file, from the folder of tests
 */
export async function commandOutput(command: string, options: readonly string[], limitMs: number): Promise<string> {
  const file = fileURLToPath(new URL(`../../${command}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  child.stdout.on("data", (data: Buffer) => lines.push(data.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return `${lines.join("")}\nexit code ${code}`;
}
