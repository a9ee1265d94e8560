// `npm start` in a terminal: reads the settings, starts the stack, prints its addresses, and stops it on Ctrl-C.
import { relative } from "node:path";
import { ConfigError } from "#platform/process/config.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { ensureBuilt, removeStale } from "../generate/output.ts";
import type { RunningStack, StackOptions } from "./running-stack.ts";
import { readStackSettings } from "./settings.ts";
import { type StackInfo, stackFile } from "./stack-file.ts";
import { reasonOf, StartError } from "./start-error.ts";

const linkMs = 15_000; // a slow machine is starting the shop and the consoles at the same time

/** Runs until a stop is requested. Exit code 0 after an orderly stop, 1 if the stack could not start. */
export async function runCommand(start: (options: StackOptions) => Promise<RunningStack>): Promise<void> {
  const began = performance.now();
  const stopping = stopRequest();
  try {
    const settings = readStackSettings(process.env);
    console.error(`Tollbooth starts on ${shown(settings.stateDir)}`);
    let isReady = false;
    // Processes log connection errors until all have started. Their logs keep these lines, and a failed start shows
    // them.
    const warn = (line: string) => isReady && console.error(line);
    await removeStale("docs");
    const running = await start({ ...settings, warn, signal: stopping });
    const [link] = await Promise.all([exampleLink(running.stack), running.openShop(), running.openConsoles()]);
    const tookMs = performance.now() - began;
    console.log(welcome(running.stack, settings.stateDir, tookMs, link));
    isReady = true;
    void buildDocs(stopping);
    await aborted(stopping);
    console.error("stopping");
    await running.stop();
    console.error("stopped; nothing is left running");
  } catch (error) {
    if (stopping.aborted) process.exit(0);
    const isPlain = error instanceof StartError || error instanceof ConfigError;
    console.error(isPlain ? error.message : error);
    process.exit(1);
  }
  process.exit(0);
}

/** The gateway serves the docs as soon as they are built, and a notice until then. */
async function buildDocs(signal: AbortSignal): Promise<void> {
  try {
    await ensureBuilt("docs", signal);
  } catch (error) {
    if (!signal.aborted) console.error(`the pages of /docs cannot be built: ${reasonOf(error)}`);
  }
}

/**
 * Aborts on Ctrl-C, SIGTERM, a closed terminal, or when the parent command is gone. npm may repeat a Ctrl-C, which has
 * no further effect: stopping has its own time limit.
 */
function stopRequest(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => controller.abort());
  process.once("disconnect", () => controller.abort());
  return controller.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short === "" || short.startsWith("..") ? path : short;
}

/** A checkout link to try; undefined if the session could not be created, which the printed curl command then shows. */
async function exampleLink(stack: StackInfo): Promise<string | undefined> {
  try {
    const answer = await fetch(`${stack.gateway}/v1/checkout-sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ amount: 1050, currency: "USD", description: "Order 1001" }),
      signal: AbortSignal.timeout(linkMs),
    });
    const { checkout_url: link } = membersOf(await answer.json());
    return typeof link === "string" ? link : undefined;
  } catch {
    return undefined;
  }
}

function welcome(stack: StackInfo, stateDir: string, tookMs: number, link: string | undefined): string {
  return `
Tollbooth is ready (${(tookMs / 1000).toFixed(1)} s)

  demo shop  ${stack.demo_shop}
  console    ${stack.console}
  operators  ${stack.operators_console}
  mailbox    ${stack.mailbox}
  API        ${stack.gateway}
  API docs   ${stack.gateway}/docs
  API key    ${stack.api_key}
  merchant   ${stack.merchant_id} (sandbox)
  details    ${shown(stackFile(stateDir))} (addresses, pids, a certificate for a local webhook receiver)
  logs       ${shown(`${stateDir}/logs`)}

What to do next

  1. Buy something in the demo shop: open ${stack.demo_shop}
     Test cards fill in by a click, and the order shows the signed webhook when it comes.
${
  link === undefined
    ? ""
    : `
  2. Or pay a checkout link as a buyer:
     ${link}
`
}${
  stack.console_invite === undefined
    ? ""
    : `
  3. Open the merchant's console as its first owner; the link works once:
     ${stack.console_invite}
`
}${
  stack.operators_invite === undefined
    ? ""
    : `
     and the operators' console as its first operator:
     ${stack.operators_invite}
`
}
  4. Create a checkout session yourself, and open its checkout_url:

     curl -sS ${stack.gateway}/v1/checkout-sessions \\
       -H 'Authorization: Bearer ${stack.api_key}' \\
       -H 'Content-Type: application/json' \\
       -d '{"amount":1050,"currency":"USD","description":"Order 1001"}'

  5. docs/quickstart.md goes on to webhooks and refunds; the shop's program is gateway/docs/samples/shop/server.mjs.

Ctrl-C stops everything. The next npm start carries on with the same addresses, key and data.
`;
}
