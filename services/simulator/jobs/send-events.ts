// Sends the signed webhooks from the table until each was answered with 2xx or three days have passed. A sender that is
// killed loses none: what it had claimed comes due again.
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
import { openPoster, type Poster } from "./post-json.ts";
import { type Repeating, repeatWork } from "./repeating.ts";

export interface SenderContext {
  readonly db: Db;
  readonly log: Logger;
  readonly faults: Faults;
  /** Where to; `{account}` stands for the account's name. */
  readonly webhookUrl: string;
  readonly webhookSecret: string;
}

const inFlightMax = 16; // as many connections as a receiver takes without noticing
const claimMax = 32; // with what still waits: at most three rounds of attempts, less than a claim lasts
const refillAt = 8; // claims the next ones while the last ones leave
const pollMs = 250; // retries come due unannounced; a new event wakes the sender at once
const gatherMs = 5; // under load, events gather this long: one claim for many
const recordMs = 10; // and results: one write for many

/** What the sender before this one had claimed must be released before. */
export function startSender(context: SenderContext): Repeating {
  const poster = openPoster(inFlightMax);
  const recorder = new Recorder(context);
  const inFlight = new Set<Promise<void>>();
  let waiting: DueEvent[] = [];
  let mayBeMore = false;
  let claimedAt = 0;

  const begin = () => {
    // What a reordering put off leaves newest first, one by one: side by side the order would be luck.
    const hasRoom = (event: DueEvent) => inFlight.size < (event.newest_first ? 1 : inFlightMax);
    for (let event = waiting[0]; event && hasRoom(event); event = waiting[0]) {
      waiting.shift();
      const sending: Promise<void> = deliverEvent(context, poster, event, recorder)
        .catch((error: unknown) => context.log.warn({ err: reasonOf(error) }, "webhook not sent; it comes due again"))
        .then(() => {
          inFlight.delete(sending);
          if (mayBeMore && waiting.length < refillAt) job.wake();
          begin();
        });
      inFlight.add(sending);
    }
  };

  const job = repeatWork("send-events", context.log, async () => {
    if (waiting.length >= refillAt) return pollMs; // whoever takes the last ones wakes us
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
      waiting = []; // they come due again
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

/** @returns null when it was taken, else why not */
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

const reasonMax = 200; // characters kept of why an attempt failed

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : "unknown").slice(0, reasonMax);
}

/**
 * Results are written together, a moment after the first of them. A write that fails lets its events come due again.
 */
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

  /** Waits until all that was added is written. */
  async done(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    await pause(recordMs);
    const results = this.#results;
    this.#results = [];
    await recordResults(this.#context.db, results).catch((error: unknown) =>
      this.#context.log.warn({ err: reasonOf(error) }, "webhooks sent, but not recorded; they come due again"),
    );
    this.#writing = this.#results.length > 0 ? this.#write() : undefined;
  }
}
