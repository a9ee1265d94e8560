// The simulator with its own database and a receiver of its webhooks, for tests of the simulator alone.
import { once } from "node:events";
import { createServer } from "node:http";
import type { SimulatorOptions } from "../../../services/simulator/config.ts";
import type { IntentJson } from "../../../services/simulator/routes/intent-json.ts";
import { type Simulator, startSimulator } from "../../../services/simulator/service.ts";
import { freshDatabase } from "../../harness/database.ts";

export const secretKey = "sim_secret_key_of_tests";
export const webhookSecret = "sim_webhook_secret_of_tests";

/** A received webhook. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly account: string;
  readonly data: { readonly intent: IntentJson };
  readonly path: string;
  readonly signature: string;
  /** The exact body. */
  readonly raw: string;
}

interface SimulatorAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

interface EventReceiver {
  readonly received: ReceivedEvent[];
  /** The status to answer with; 200 at first. */
  status: number;
  readonly webhookUrl: string;
  close(): Promise<void>;
}

/** Receives webhooks on a free loopback port. */
export async function startReceiver(): Promise<EventReceiver> {
  const received: ReceivedEvent[] = [];
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const raw = Buffer.concat(chunks).toString("utf8");
    const signature = String(request.headers["processor-signature"]);
    received.push({ ...JSON.parse(raw), path: request.url, signature, raw });
    reply.writeHead(receiver.status).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const receiver: EventReceiver = {
    received,
    status: 200,
    webhookUrl: `http://127.0.0.1:${port}/hooks/{account}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}

/** Calls the simulator's API. A body that is not JSON is null. */
export function simulatorCaller(url: string, account = "acct_test") {
  return async <Body = IntentJson>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<SimulatorAnswer<Body>> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secretKey}`,
        "processor-account": account,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : null,
    };
  };
}

export interface SimulatorRig {
  readonly url: string;
  readonly databaseUrl: string;
  readonly receiver: EventReceiver;
  readonly call: ReturnType<typeof simulatorCaller>;
  /** A new intent, by default of 1,050 minor units. */
  intent(members?: Record<string, unknown>): Promise<IntentJson>;
  paidIntent(card?: string): Promise<IntentJson>;
  stop(): Promise<void>;
}

export const cardThatSucceeds = "4242424242424242";
const delayMs = 50; // the delay itself is not tested

/** @param through maps the database's URL to the one that the simulator uses */
export async function startRig(
  through?: (databaseUrl: string) => Promise<string>,
  options: Partial<SimulatorOptions> = {},
): Promise<SimulatorRig> {
  const [database, receiver] = await Promise.all([freshDatabase(), startReceiver()]);
  const simulator: Simulator = await startSimulator({
    port: 0,
    databaseUrl: through ? await through(database.url) : database.url,
    secretKey,
    webhookSecret,
    webhookUrl: receiver.webhookUrl,
    logLevel: "fatal",
    delayMs,
    ...options,
  });
  const call = simulatorCaller(simulator.url);
  let count = 0;
  const rig: SimulatorRig = {
    url: simulator.url,
    databaseUrl: database.url,
    receiver,
    call,
    async intent(members = {}) {
      const wanted = { amount: 1_050, currency: "EUR", reference: `pay_${++count}`, ...members };
      return (await call("POST", "/api/intents", wanted)).body;
    },
    async paidIntent(card = cardThatSucceeds) {
      const { id } = await rig.intent();
      await call("POST", `/test/intents/${id}/pay`, { card });
      return (await call("GET", `/api/intents/${id}`)).body;
    },
    async stop() {
      await simulator.stop();
      await receiver.close();
    },
  };
  return rig;
}
