// The demo shop as `npm start` runs it: the sample's own process, here for a merchant of the test.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { freePort } from "../../deploy/local/free-port.ts";
import { shopScript } from "../../deploy/local/services.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { eventually } from "./eventually.ts";

export interface DemoShop {
  readonly url: string;
  /** Everything it has printed. */
  output(): string;
  /** Sends a webhook of a forger, or anything. @returns the status */
  sendWebhook(body: string, signature: string): Promise<number>;
  /** Restarts it with an empty memory. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** @param port a free one by default */
export async function openDemoShop(stack: StackInfo, apiKey: string, port?: number): Promise<DemoShop> {
  const [ownPort, webhookPort] = [port ?? (await freePort()), await freePort()];
  const env = {
    BASE_URL: stack.gateway,
    API_KEY: apiKey,
    PORT: String(ownPort),
    WEBHOOK_PORT: String(webhookPort),
    TLS_CERT: stack.tls.cert,
    TLS_KEY: stack.tls.key,
  };
  let output = "";
  const start = async () => {
    const child = fork(shopScript, { env, execArgv: [], stdio: ["ignore", "pipe", "pipe", "ipc"] });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data: Buffer) => (output += data));
    let isReady = false;
    child.on("message", () => (isReady = true));
    await eventually("the shop to be open", () => {
      if (child.exitCode !== null) throw new Error(output);
      return isReady;
    });
    return child;
  };
  let child = await start();
  const end = async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  return {
    url: `http://127.0.0.1:${ownPort}`,
    output: () => output,
    sendWebhook: (body, signature) => sendWebhook(stack.tls.ca, webhookPort, body, signature),
    async restart() {
      await end();
      child = await start();
    },
    close: end,
  };
}

function sendWebhook(ca: string, port: number, body: string, signature: string): Promise<number> {
  const headers = { "service-signature": signature, "service-delivery": "whd_forged" };
  return new Promise((resolve, reject) => {
    const options = { ca: readFileSync(ca), method: "POST", headers, agent: false };
    request(`https://localhost:${port}/hook`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .once("error", reject)
      .end(body);
  });
}
