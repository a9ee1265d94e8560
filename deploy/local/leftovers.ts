// Ends what a killed stack left behind on a state directory. Processes end by themselves when their supervisor is gone;
// this is for one that hangs. PostgreSQL and NATS are ended where they are started, by their own pid files.

import { consoleScript, mailboxScript } from "./consoles.ts";
import { readObject } from "./private-file.ts";
import { endLeftover } from "./process-table.ts";
import { processNames, scriptOf, shopScript } from "./services.ts";
import { stackFile } from "./stack-file.ts";

const leftoverMsMax = 10_000; // a process drains for up to 9 s

/** Reads the pids of the stack.json that a killed stack could not remove. */
export async function endLeftovers(stateDir: string): Promise<void> {
  const old = await readObject(stackFile(stateDir));
  const pids = typeof old?.pids === "object" && old.pids !== null ? Object.entries(old.pids) : [];
  const scripts = [
    ...processNames.map((name) => [name, scriptOf(name)] as const),
    ["shop", shopScript] as const,
    ["console", consoleScript] as const,
    ["operators-console", consoleScript] as const,
    ["mailbox", mailboxScript] as const,
  ];
  const ending = scripts.map(async ([name, script]) => {
    const pid: unknown = pids.find(([part]) => part === name)?.[1];
    if (typeof pid === "number") await endLeftover(pid, script, "SIGTERM", leftoverMsMax);
  });
  await Promise.all(ending);
}
