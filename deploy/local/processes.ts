// The processes of a stack with their environments, and the demo shop: a merchant's program, which gets only an API key
// and the certificate for localhost.
import { join } from "node:path";
import { settingPrefixOf } from "../one/together.ts";
import { freePort } from "./free-port.ts";
import { type ChildProgram, runChild } from "./process/child-process.ts";
import { limitedWarnings } from "./process/log-line.ts";
import type { Supervisor } from "./process/supervisor.ts";
import type { WantedStack } from "./running-stack.ts";
import {
  type ConsoleName,
  consoleNames,
  environmentOf,
  oneScript,
  ownProcessNames,
  type ProcessName,
  processNames,
  type StackEnvironment,
  scriptOf,
  shopScript,
  youngHeap,
} from "./services.ts";
import type { TlsFiles } from "./state/tls.ts";

/** @param consoles their environments, for a stack in one process */
export async function startProcesses(
  wanted: WantedStack,
  around: StackEnvironment,
  consoles: Readonly<Record<ConsoleName, Record<string, string>>>,
  supervisor: Supervisor,
): Promise<void> {
  const inherited = inheritedBy(wanted);
  const environment = (name: ProcessName) => {
    const set = environmentOf(name, around);
    return withOwn({ ...inherited, ...set }, wanted.envOf?.(name, set));
  };
  const alone = (name: ProcessName) => ({
    name,
    start: () => runChild(nodeProgram(wanted, name, scriptOf(name), environment(name))),
  });
  if (wanted.shape === "separate") return await supervisor.start(...processNames.map(alone));
  const baseEnv = { ...inherited, ...environmentOfOne(wanted, around, consoles) };
  const together = withOwn(baseEnv, wanted.envOf?.("one", {}));
  const one = { name: "one", start: () => runChild(nodeProgram(wanted, "one", oneScript, together)) };
  await supervisor.start(alone("simulator"), one);
}

/** Environments of all parts of the one process, each variable prefixed with its part's name. */
function environmentOfOne(
  wanted: WantedStack,
  around: StackEnvironment,
  consoles: Readonly<Record<ConsoleName, Record<string, string>>>,
): Record<string, string> {
  const own = ownProcessNames.map((name) => {
    const set = environmentOf(name, around);
    return [name, { ...set, ...wanted.envOf?.(name, set) }] as const;
  });
  const environments = [
    ...own,
    ...consoleNames.map((name) => [name, { HOST: "127.0.0.1", ...consoles[name] }] as const),
  ];
  const entries = environments.flatMap(([name, env]) =>
    // NODE_OPTIONS belong to the process, not to a part.
    Object.entries(env).flatMap(([key, value]) =>
      key === "NODE_OPTIONS" ? [] : [[`${settingPrefixOf(name)}${key}`, value] as const],
    ),
  );
  return {
    ...Object.fromEntries(entries),
    PARTS: environments.map(([name]) => name).join(","),
  };
}

export interface ShopConfig {
  readonly port: number;
  /** Base URL of the API, and a key of the shop's merchant. */
  readonly gateway: string;
  readonly apiKey: string;
  readonly tls: TlsFiles;
}

export async function startDemoShop(
  wanted: WantedStack,
  { port, gateway, apiKey, tls }: ShopConfig,
  supervisor: Supervisor,
): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    BASE_URL: gateway,
    API_KEY: apiKey,
    PORT: String(port),
    WEBHOOK_PORT: String(await freePort()),
    TLS_CERT: tls.cert,
    TLS_KEY: tls.key,
  };
  await supervisor.start({ name: "shop", start: () => runChild(nodeProgram(wanted, "shop", shopScript, env)) });
}

/** Environment of every process of ours. */
export function inheritedBy(wanted: WantedStack): NodeJS.ProcessEnv {
  const set = { ...process.env, ...wanted.env };
  return { ...set, NODE_OPTIONS: `${youngHeap} ${set.NODE_OPTIONS ?? ""}`.trim() };
}

export function nodeProgram(wanted: WantedStack, name: string, script: string, env: NodeJS.ProcessEnv): ChildProgram {
  return {
    name,
    script,
    env,
    logPath: join(wanted.stateDir, "logs", `${name}.log`),
    warn: limitedWarnings((line) => wanted.warn?.(`${name} ${line}`)),
    keepsParentAlive: wanted.keepsParentAlive ?? true,
  };
}

/** Settings of one process override the others; NODE_OPTIONS add up. */
function withOwn(env: NodeJS.ProcessEnv, own: Record<string, string> = {}): NodeJS.ProcessEnv {
  const options = [env.NODE_OPTIONS, own.NODE_OPTIONS].filter(Boolean).join(" ");
  return { ...env, ...own, ...(options && { NODE_OPTIONS: options }) };
}
