// The token of each internal caller of a local stack, in a file of its own, and the list of their digests that the
// services accept. Made at random on first start; a token that somebody changed stays changed, and the list follows.
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type CallerName, callerLine, callerNames } from "#platform/secrets/callers.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** Where they stand; absolute paths. */
export interface RpcFiles {
  /** A token each, mode 0600. */
  tokens: Record<CallerName, string>;
  /** What every service reads. */
  callers: string;
}

/** The files, made where they are missing. */
export async function rpcFiles(stateDir: string): Promise<RpcFiles> {
  const dir = join(stateDir, "rpc");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = rpcFilesIn(stateDir);
  const lines: string[] = [];
  for (const name of callerNames) lines.push(callerLine(name, await tokenIn(files.tokens[name])));
  await writePrivate(files.callers, `${lines.join("\n")}\n`);
  return files;
}

/** Their names, whether they are there or not. */
export function rpcFilesIn(stateDir: string): RpcFiles {
  const path = (name: string) => join(stateDir, "rpc", name);
  return {
    tokens: {
      gateway: path("gateway.token"),
      checkout: path("checkout.token"),
      payments: path("payments.token"),
      operator: path("operator.token"),
      reader: path("reader.token"),
      webhook: path("webhook.token"),
      console: path("console.token"),
    },
    callers: path("callers"),
  };
}

async function tokenIn(path: string): Promise<string> {
  const known = (await readIfThere(path))?.split("\n")[0]?.trim();
  if (known) return known;
  const made = randomBytes(32).toString("base64url");
  await writePrivate(path, `${made}\n`);
  return made;
}
