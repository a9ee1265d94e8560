// The description of a running stack for people and programs, `stack.json` in the state directory, mode 0600.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrokerFiles } from "./state/broker-files.ts";
import { writePrivate } from "./state/private-file.ts";
import type { RpcFiles } from "./state/rpc-files.ts";
import type { TlsFiles } from "./state/tls.ts";

/** Everything needed to use, watch and disturb a stack. */
export interface StackInfo {
  /** Base URL of the public API. */
  gateway: string;
  /** Base URL of the card-processor simulator. */
  processor: string;
  /** Base URL of the demo shop; absent until it is open. */
  demo_shop?: string;
  /** Base URLs of the merchants' console, the operators' and the mailbox; absent until they are open. */
  console?: string;
  operators_console?: string;
  mailbox?: string;
  /** Where the sandbox merchant's first owner, and the first operator, set up their sign-in, once; then absent. */
  console_invite?: string;
  operators_invite?: string;
  /** Key of the sandbox merchant, with every scope. */
  api_key: string;
  merchant_id: string;
  /** Base URLs of the internal APIs. */
  rpc: Record<"checkout" | "payments" | "merchant" | "webhook", string>;
  /** Base URLs of the admin ports: `/metrics`, `/livez`; of the consoles once they are open. */
  admin: Record<"gateway" | "checkout" | "payments" | "merchant" | "webhook", string> &
    Partial<Record<"console" | "operators-console", string>>;
  /** The operator's token for the internal APIs. */
  rpc_token: string;
  /** Files with every caller's token, and the one that the services accept them by. */
  rpc_files: RpcFiles;
  /** PostgreSQL URL; each service's database has this one's name with `_<service>` appended. */
  database: string;
  nats: string;
  /** Seeds of the identities at the broker, when it is the stack's own, and the keys that prove whose an event is. */
  broker_files: BrokerFiles;
  /** PEM files of a local authority, which webhook delivery trusts, and of a certificate for localhost. */
  tls: TlsFiles;
  /** Of every process that runs now, the supervisor among them. */
  pids: Record<string, number>;
}

/** Where the description stands. */
export function stackFile(stateDir: string): string {
  return join(stateDir, "stack.json");
}

/** Replaces the description in one step. */
export async function writeStackFile(stateDir: string, stack: StackInfo): Promise<void> {
  await writePrivate(stackFile(stateDir), `${JSON.stringify(stack, null, 2)}\n`);
}

/** A stack that has stopped has no description. */
export async function removeStackFile(stateDir: string): Promise<void> {
  await rm(stackFile(stateDir), { force: true });
}
