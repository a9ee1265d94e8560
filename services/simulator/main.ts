// Starts the simulator process, notifies its parent when it is ready, and drains on SIGTERM, SIGINT or when the parent
// exits.
import { readConfig } from "./config.ts";
import { startSimulator } from "./service.ts";

const stopMsMax = 9_000; // a supervisor kills after 10 s

await main().catch((error: unknown) => {
  const lines = (error instanceof Error ? error.message : String(error)).split("\n");
  process.stderr.write(lines.map((line) => `simulator: ${line}\n`).join(""));
  process.exit(1);
});

async function main(): Promise<void> {
  const simulator = await startSimulator(readConfig(process.env));
  const stop = () => {
    setTimeout(() => process.exit(1), stopMsMax).unref();
    simulator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.once(event, stop);
  if (process.connected === false) return stop(); // the parent exited during the start
  process.send?.({ ready: true });
}
