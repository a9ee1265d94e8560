// The limit of webhook delivery: signed requests to the same receivers by a program that only signs and sends, without
// events, a database, or a thought of what became of them.
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Pool } from "undici";
import { inParallel } from "./shop.ts";
import { cpuOf } from "./usage.ts";
import type { Report } from "./webhook-phase.ts";
import type { Rig } from "./webhook-rig.ts";

const connections = 64;
const warmUpRequests = 2_000;
const requests = 20_000;
/** As long as that of a succeeded payment's event. */
const bodyBytes = 400;

export async function measureBareSender(rig: Rig, report: Report): Promise<void> {
  const pool = new Pool(rig.receivers.url, {
    connections,
    pipelining: 1,
    connect: { ca: readFileSync(rig.receivers.ca, "utf8") },
  });
  const key = createSecretKey(randomBytes(32));
  const body = Buffer.alloc(bodyBytes, "x");
  const send = async () => {
    report.deadline.throwIfAborted();
    const signature = createHmac("sha256", key).update(body).digest("hex");
    const headers = { "content-type": "application/json", "service-signature": `t=0,v1=${signature}` };
    const answer = await pool.request({ method: "POST", path: "/ok/bare", headers, body });
    await answer.body.dump();
  };
  await inParallel(Math.round(warmUpRequests * report.share), connections, send);
  const count = Math.round(requests * report.share);
  const before = { receiver: cpuOf(rig.pids).receiver ?? 0, own: process.cpuUsage(), at: performance.now() };
  await inParallel(count, connections, send);
  const seconds = (performance.now() - before.at) / 1_000;
  const own = process.cpuUsage(before.own);
  const each = (us: number) => Math.round(us / count);
  await pool.close();
  report.row(
    "  the same requests by a bare sender (limit)",
    `${Math.round(count / seconds)}/s; sender ${each(own.user + own.system)} / receivers ${each((cpuOf(rig.pids).receiver ?? 0) - before.receiver)} µs`,
  );
}
