// Runs test files one after another in this process: their common imports are loaded once. After each file it prints a
// line with the file's result and cost, which run-file.ts reads. The exit code is 0 when every file has such a line and
// no handle was left open. Usage: run-files.ts FILE …
import { resolve } from "node:path";
import { secondsSinceLastEnd } from "./child-cpu-time.ts";
import { type EndOfFile, endOfFile } from "./run-file.ts";

await runAll(process.argv.slice(2));

async function runAll(files: readonly string[]): Promise<void> {
  Object.assign(globalThis, { UVU_DEFER: 1 }); // uvu reads it when it is loaded, and waits for exec()
  const { exec } = await import("uvu");
  const { endShared, pauseLeakCheck, startLeakCheck, takeHookFailures } = await import("../suite.ts");
  for (const file of files) {
    const began = performance.now();
    const cpuBefore = process.cpuUsage();
    secondsSinceLastEnd();
    pauseLeakCheck();
    Object.assign(globalThis, { UVU_QUEUE: [[null]], UVU_INDEX: 0 });
    let isGood = true;
    try {
      await import(resolve(file));
      await exec();
      isGood = takeHookFailures() === 0 && !process.exitCode;
    } catch (error) {
      console.error(error);
      isGood = false;
    }
    process.exitCode = 0;
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuSeconds = (user + system) / 1e6 + (secondsSinceLastEnd() ?? 0);
    const end: EndOfFile = { file, isGood, ms: Math.round(performance.now() - began), cpuSeconds };
    process.stdout.write(`\n${endOfFile}${JSON.stringify(end)}\n`);
  }
  await endShared();
  startLeakCheck();
}
