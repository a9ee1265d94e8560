// A file with the token of each internal caller, and the list of token digests that services accept. Tokens are random,
// created on the first start; a token that the user changes stays, and the list follows.
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type CallerName, callerNames } from "#platform/secrets/callers.ts";
import { holderLines } from "../../cli/setup/identities.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** Absolute paths. */
export interface RpcFiles {
  /** Mode 0600. */
  tokens: Record<CallerName, string>;
  /** The operators' console is a console with an operator's rights. */
  operatorsConsole: string;
  /** Digests that every service reads. */
  callers: string;
}

/** Creates missing files. */
export async function rpcFiles(stateDir: string): Promise<RpcFiles> {
  const dir = join(stateDir, "rpc");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = rpcFilesIn(stateDir);
  const lines: string[] = [];
  for (const name of callerNames) lines.push(...holderLines(name, await tokenIn(files.tokens[name])));
  lines.push(...holderLines("operators-console", await tokenIn(files.operatorsConsole)));
  await writePrivate(files.callers, `${lines.join("\n")}\n`);
  return files;
}

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
    operatorsConsole: path("operators-console.token"),
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
