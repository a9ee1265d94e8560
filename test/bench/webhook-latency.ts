// Latency from a payment's commit to the arrival at the receiver, alone and while 200 endpoints that never answer get
// as much.
import { eventually } from "../harness/eventually.ts";
import type { BenchEndpoint, Phase, Report, Rig } from "./webhook-rig.ts";

const ratePerSecond = 200;
const healthyCount = 50;
const deadCount = 200;
const warmUpSeconds = 3;
const secondsEach = 15;

export const latency: Phase = { limitSeconds: 130, serviceEnv: {}, run: measure };

async function measure(rig: Rig, report: Report): Promise<void> {
  const seconds = Math.max(2, secondsEach * report.share);
  const healthy = await rig.endpoints(healthyCount, "/ok-timed");
  await paced(rig, report, healthy, [], warmUpSeconds);
  const alone = await paced(rig, report, healthy, [], seconds);
  report.row(`commit to receiver at ${ratePerSecond}/s: p50 / p95 / p99`, `${alone.text} ms`);
  const dead = await rig.endpoints(deadCount, "/hang");
  const first = await paced(rig, report, healthy, dead, seconds);
  report.row(`the same while ${deadCount} endpoints begin to time out (${ratePerSecond}/s more)`, `${first.text} ms`);
  const later = await paced(rig, report, healthy, dead, seconds * 2);
  report.row("the same afterwards", `${later.text} ms`);
  const times = (p99: number) => (p99 / alone.p99).toFixed(2);
  report.row("  healthy p99 in the first seconds, times that without dead endpoints", times(first.p99));
  report.row("  healthy p99 afterwards, times that without dead endpoints", times(later.p99));
  report.row("  resident memory of the service at most", `${rig.service.peakMb()} MB`);
}

/** Commits payments at the fixed rate, to the healthy endpoints and as many to the dead ones. */
async function paced(
  rig: Rig,
  report: Report,
  healthy: readonly BenchEndpoint[],
  dead: readonly BenchEndpoint[],
  seconds: number,
): Promise<{ p99: number; text: string }> {
  const committed = new Map<string, number>();
  const startedAt = performance.now();
  const waits: Promise<unknown>[] = [];
  for (let i = 0; i < ratePerSecond * seconds; i++) {
    report.deadline.throwIfAborted();
    const pauseMs = startedAt + (i * 1_000) / ratePerSecond - performance.now();
    if (pauseMs > 1) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const target = healthy[i % healthy.length];
    const victim = dead[i % Math.max(1, dead.length)];
    if (target) waits.push(rig.commit(target.merchantId).then(({ id, at }) => committed.set(id, at)));
    if (victim) waits.push(rig.commit(victim.merchantId));
  }
  await Promise.all(waits);
  const arrivals = new Map<string, number>();
  const isArrived = () => {
    for (const [id, at] of rig.takeArrivals()) arrivals.set(id, at);
    return [...committed.keys()].every((id) => arrivals.has(id));
  };
  await eventually("all to arrive", isArrived, { limitMs: 60_000, everyMs: 100 });
  const times = [...committed].map(([id, at]) => (arrivals.get(id) ?? 0) - at).sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p99: at(0.99), text: [at(0.5), at(0.95), at(0.99)].map((ms) => ms.toFixed(1)).join(" / ") };
}
