// `npm run bench -- flames`: where the processor time of gateway, checkout, payments and merchant goes while a flow
// runs at 32 connections, as a flame graph for each.
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { sourceStack } from "#platform/telemetry/source-stack.ts";
import { helpIfAsked, parseWords } from "../../deploy/local/options.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { onBenchStack } from "./bench-stack.ts";
import { flameGraph, framesOf, type Profile } from "./flame-graph.ts";
import { measure, type Request } from "./load.ts";
import { inParallel, openShop } from "./shop.ts";
import { analyzeAll } from "./statistics.ts";

helpIfAsked(`npm run bench -- flames [--folder docs/flames] [--seconds N] [--warm N] [--connections N]

  --folder       where the pictures go; default docs/flames
  --seconds      of each flow that are looked at, 2 to 60; default 8
  --warm         seconds of the same load before, 1 to 60; default 6
  --connections  1 to 64; default 32`);
const { values } = parseWords({
  options: {
    folder: { type: "string", default: "docs/flames" },
    seconds: { type: "string", default: "8" },
    warm: { type: "string", default: "6" },
    connections: { type: "string", default: "32" },
  },
});
const [seconds, warmSeconds, connections] = [values.seconds, values.warm, values.connections].map(Number) as [
  number,
  number,
  number,
];
if (!(seconds >= 2 && seconds <= 60)) throw new Error("--seconds takes 2 to 60");
if (!(warmSeconds >= 1 && warmSeconds <= 60)) throw new Error("--warm takes 1 to 60");
if (!(Number.isInteger(connections) && connections >= 1 && connections <= 64)) {
  throw new Error("--connections takes 1 to 64");
}

const parts = ["gateway", "checkout", "payments", "merchant"] as const;
const sampleUs = 500;
const root = join(import.meta.dirname, "../..");
const folder = resolve(values.folder);
/** By place: a profile has each many times. */
const files = new Map<string, string>();

await onBenchStack(report, {
  envOf: (_name, { NODE_OPTIONS = "" }) => ({ NODE_OPTIONS: `${NODE_OPTIONS} --inspect=127.0.0.1:0` }),
});

async function report({ stack }: RunningStack, stateDir: string): Promise<void> {
  const shop = await openShop(stack);
  const orders = await shop.paidSessions((seconds + warmSeconds) * 450);
  const confirmed = orders.slice(0, 300);
  const payments: string[] = [];
  let turn = 0;
  await mkdir(folder, { recursive: true });
  await draw("create", shop.create);
  await draw("confirm", () => orders.pop());
  await inParallel(confirmed.length, 16, async (i) => {
    payments.push(JSON.parse(await shop.send(confirmed[i] as Request)).payment_id);
  });
  await draw("refund", () => shop.refund(payments[turn++ % payments.length] ?? ""));
  await shop.close();

  async function draw(flow: string, next: () => Request | undefined): Promise<void> {
    const load = () => shop.sending(next());
    await measure({ connections, seconds: warmSeconds, next: load });
    await analyzeAll(stack.database);
    const watched = await Promise.all(parts.map((part) => watchProfile(part, stateDir)));
    const { perSecond } = await measure({ connections, seconds, next: load });
    for (const { part, end } of watched) {
      const title = `${part}, ${flow}, ${connections} connections, ${perSecond.toFixed(0)} a second while looked at`;
      const file = join(folder, `${flow}-${part}.svg`);
      await writeFile(file, flameGraph(title, framesOf(await end(), sourceOf)));
      console.log(file);
    }
  }
}

/** Begins to look at a process; `end` ends it. */
async function watchProfile(part: string, stateDir: string): Promise<{ part: string; end: () => Promise<Profile> }> {
  const log = readFileSync(join(stateDir, "logs", `${part}.log`), "utf8");
  const url = /Debugger listening on (ws:\S+)/.exec(log)?.[1];
  if (url === undefined) throw new Error(`${part} does not say where its inspector is`);
  const socket = new WebSocket(url);
  await new Promise((open, failed) => {
    socket.addEventListener("open", open, { once: true });
    socket.addEventListener("error", failed, { once: true });
  });
  let asked = 0;
  const ask = async (method: string, params: object = {}): Promise<{ profile?: Profile }> => {
    const id = ++asked;
    const answered = new Promise<{ profile?: Profile }>((answer) => {
      socket.addEventListener("message", ({ data }) => {
        const message = JSON.parse(String(data));
        if (message.id === id) answer(message.result ?? {});
      });
    });
    socket.send(JSON.stringify({ id, method, params }));
    return await answered;
  };
  await ask("Profiler.enable");
  await ask("Profiler.setSamplingInterval", { interval: sampleUs });
  await ask("Profiler.start");
  const end = async () => {
    const { profile } = await ask("Profiler.stop");
    socket.close();
    if (!profile) throw new Error(`${part} gave no profile`);
    return profile;
  };
  return { part, end };
}

/** The file in the project, also of a bundle's place. */
function sourceOf(url: string, line: number, column: number): string {
  const place = `${url}:${line}:${column}`;
  const known = files.get(place);
  if (known !== undefined) return known;
  const mapped = /\((file:.*?):\d+:\d+\)/.exec(sourceStack(`    at f (${place})`))?.[1] ?? url;
  const file = fileURLToPath(mapped).replace(`${root}/`, "");
  files.set(place, file);
  return file;
}
