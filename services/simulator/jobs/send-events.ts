// Sends signed webhooks from the table until each gets a 2xx or three days have passed. A killed sender loses none: its
// claimed events become due again.
import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Faults } from "../flows/faults.ts";
import type { Fault } from "../rules/fault.ts";
import { retryMs, signWebhook } from "../rules/webhook.ts";
import {
  claimEvents,
  type DueEvent,
  loseEvent,
  postponeEvent,
  recordResults,
  type SendResult,
} from "../store/events.ts";
import type { Db } from "../store/pool.ts";
import { type Repeating, repeatWork } from "./repeating.ts";

export interface SenderContext {
  readonly db: Db;
  readonly log: Logger;
  readonly faults: Faults;
  /** URL; `{account}` is replaced by the account's name. */
  readonly webhookUrl: string;
  readonly webhookSecret: string;
}

const inFlightMax = 16; // connections that any receiver can take
const claimMax = 32; // with waiting events at most three rounds of attempts, shorter than a lease
const refillAt = 8; // claims the next batch while the last one is sent
const pollMs = 250; // for retries; a new event wakes the sender
const gatherMs = 5; // collects events under load, one claim for many
const recordMs = 10; // collects results, one write for many

/** The caller releases the claims of an earlier sender first. */
export function startSender(context: SenderContext): Repeating {
  const poster = openPoster(inFlightMax);
  const recorder = new Recorder(context);
  const inFlight = new Set<Promise<void>>();
  let waiting: DueEvent[] = [];
  let mayBeMore = false;
  let claimedAt = 0;

  const begin = () => {
    // Reordered events leave newest first, one at a time, since concurrent sends have no order.
    const hasRoom = (event: DueEvent) => inFlight.size < (event.newest_first ? 1 : inFlightMax);
    for (let event = waiting[0]; event && hasRoom(event); event = waiting[0]) {
      waiting.shift();
      const sending: Promise<void> = deliverEvent(context, poster, event, recorder)
        .catch((error: unknown) => context.log.warn({ err: reasonOf(error) }, "webhook not sent; retrying"))
        .then(() => {
          inFlight.delete(sending);
          if (mayBeMore && waiting.length < refillAt) job.wake();
          begin();
        });
      inFlight.add(sending);
    }
  };

  const job = repeatWork("send-events", context.log, async () => {
    if (waiting.length >= refillAt) return pollMs; // the last sends wake the job
    const early = claimedAt + gatherMs - performance.now();
    if (early > 0) await pause(early);
    claimedAt = performance.now();
    const due = await claimEvents(context.db, claimMax);
    mayBeMore = due.length === claimMax;
    waiting.push(...due);
    begin();
    return mayBeMore && waiting.length < refillAt ? 0 : pollMs;
  });

  return {
    wake: job.wake,
    async stop() {
      await job.stop();
      waiting = []; // they become due again
      await Promise.all(inFlight);
      await recorder.done();
      poster.close();
    },
  };
}

async function deliverEvent(
  context: SenderContext,
  poster: Poster,
  event: DueEvent,
  recorder: Recorder,
): Promise<void> {
  const subject = { target: "webhooks", account: event.account, references: [event.reference] } as const;
  if (!event.postponed) {
    const putOff = await context.faults.take({ ...subject, kinds: ["delay", "reorder", "hold", "lose"] });
    if (putOff.length > 0) return postpone(context.db, event, putOff);
  }
  const firing =
    event.attempts === 0 ? await context.faults.take({ ...subject, kinds: ["duplicate", "drop_once"] }) : [];
  const isDropped = firing.some((fault) => fault.kind === "drop_once");
  if (!isDropped && firing.some((fault) => fault.kind === "duplicate")) await sendEvent(context, poster, event);
  const error = isDropped ? "dropped by a fault switch" : await sendEvent(context, poster, event);
  const retry_ms = error === null ? null : retryMs(event.attempts + 1, event.age_ms);
  recorder.add({ id: event.id, delivered: error === null, error, retry_ms });
}

async function postpone(db: Db, event: DueEvent, firing: readonly Fault[]): Promise<void> {
  if (firing.some((fault) => fault.kind === "lose")) return loseEvent(db, event.id);
  const isHeld = firing.some((fault) => fault.kind === "hold");
  const ms = Math.max(...firing.map((fault) => fault.ms));
  const isReordered = firing.some((fault) => fault.kind === "reorder");
  await postponeEvent(db, event.id, isHeld ? null : ms, isReordered);
}

/** @returns the failure reason; null: accepted */
async function sendEvent(context: SenderContext, poster: Poster, event: DueEvent): Promise<string | null> {
  const atSeconds = Math.floor(Date.now() / 1_000);
  const url = context.webhookUrl.replaceAll("{account}", event.account);
  try {
    const status = await poster.post(url, event.body, {
      "content-type": "application/json",
      "user-agent": "Simulator-Webhooks/1",
      "processor-signature": signWebhook(context.webhookSecret, atSeconds, event.body),
    });
    return status >= 200 && status <= 299 ? null : `answered with ${status}`;
  } catch (error) {
    return reasonOf(error);
  }
}

const reasonMax = 200; // characters

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : "unknown").slice(0, reasonMax);
}

/** Writes results together, shortly after the first. Events of a failed write become due again. */
class Recorder {
  readonly #context: SenderContext;
  #results: SendResult[] = [];
  #writing: Promise<void> | undefined;

  constructor(context: SenderContext) {
    this.#context = context;
  }

  add(result: SendResult): void {
    this.#results.push(result);
    this.#writing ??= this.#write();
  }

  /** Waits until all results are written. */
  async done(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    await pause(recordMs);
    const results = this.#results;
    this.#results = [];
    await recordResults(this.#context.db, results).catch((error: unknown) =>
      this.#context.log.warn({ err: reasonOf(error) }, "webhook results not recorded; retrying"),
    );
    this.#writing = this.#results.length > 0 ? this.#write() : undefined;
  }
}

interface Poster {
  /** @returns the status code. @throws on a connection error or when the limit is reached */
  post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<number>;
  close(): void;
}

const answerMsMax = 5_000;
const answerBytesMax = 64 * 1_024; // the content of the answer is not used

/** @param connectionsMax concurrent connections per origin */
function openPoster(connectionsMax: number): Poster {
  const settings = { keepAlive: true, maxSockets: connectionsMax };
  const agents = { http: new http.Agent(settings), https: new https.Agent(settings) };
  return {
    post: (url, body, headers) =>
      new Promise((resolve, reject) => {
        const isHttps = url.startsWith("https:");
        const request = (isHttps ? https : http).request(url, {
          method: "POST",
          agent: isHttps ? agents.https : agents.http,
          headers: { ...headers, "content-length": Buffer.byteLength(body) },
          signal: AbortSignal.timeout(answerMsMax),
        });
        request.on("error", reject);
        request.on("response", (answer) => {
          let bytes = 0;
          answer.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > answerBytesMax) answer.destroy(new Error("the answer is too long"));
          });
          answer.on("error", reject);
          answer.on("end", () => resolve(answer.statusCode ?? 0));
        });
        request.end(body);
      }),
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
