// `stack.json` in the state directory describes a running stack for people and programs; mode 0600.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrokerFiles } from "./state/broker-files.ts";
import { writePrivate } from "./state/private-file.ts";
import type { RpcFiles } from "./state/rpc-files.ts";
import type { TlsFiles } from "./state/tls.ts";

export interface StackInfo {
  /** Base URL of the public API. */
  gateway: string;
  /** Base URL of the simulator. */
  processor: string;
  /** Base URL of the demo shop; absent until it serves. */
  demo_shop?: string;
  /** Base URLs of the consoles and the mailbox; absent until they serve. */
  console?: string;
  operators_console?: string;
  mailbox?: string;
  /** Sign-up links of the sandbox merchant's first owner and the first operator; absent once used. */
  console_invite?: string;
  operators_invite?: string;
  /** Key of the sandbox merchant, with every scope. */
  api_key: string;
  merchant_id: string;
  /** Base URLs of the internal APIs. */
  rpc: Record<"checkout" | "payments" | "merchant" | "webhook", string>;
  /** Base URLs of the admin ports with `/metrics` and `/livez`; of the consoles once they serve. */
  admin: Record<"gateway" | "checkout" | "payments" | "merchant" | "webhook", string> &
    Partial<Record<"console" | "operators-console", string>>;
  /** The operator's token for the internal APIs. */
  rpc_token: string;
  /** Files with the callers' tokens and with the list of accepted callers. */
  rpc_files: RpcFiles;
  /** PostgreSQL URL; append `_<service>` to its database name for a service's database. */
  database: string;
  nats: string;
  /** Broker identities (if the broker is the stack's own) and event keys. */
  broker_files: BrokerFiles;
  /** PEM files of the local authority that webhook delivery trusts, and of a certificate for localhost. */
  tls: TlsFiles;
  /** Of all running processes, including the supervisor. */
  pids: Record<string, number>;
}

export function stackFile(stateDir: string): string {
  return join(stateDir, "stack.json");
}

export async function writeStackFile(stateDir: string, stack: StackInfo): Promise<void> {
  await writePrivate(stackFile(stateDir), `${JSON.stringify(stack, null, 2)}\n`);
}

export async function removeStackFile(stateDir: string): Promise<void> {
  await rm(stackFile(stateDir), { force: true });
}
