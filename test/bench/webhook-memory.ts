// The most memory that the service takes under every kind of misbehaving receiver at once, each with a backlog that
// keeps coming back.
import { setTimeout as pause } from "node:timers/promises";
import type { BenchEndpoint, Phase, Report, Rig } from "./webhook-rig.ts";

// Enough to reach the limits of slow and of silent endpoints.
const endpointsPerKind = 8;
const ratePerSecond = 200;
const secondsTotal = 60;
// Of the connections that this process has to PostgreSQL, half.
const commitsAtOnce = 8;

export const memory: Phase = {
  limitSeconds: 100,
  // Failed deliveries are retried within the measured time, instead of after a minute and more.
  serviceEnv: { WEBHOOK_RETRY_BASE_MS: "1000", WEBHOOK_RETRY_CAP_MS: "8000" },
  run: measure,
};

async function measure(rig: Rig, report: Report): Promise<void> {
  const urls = await rig.hostileUrls();
  const endpoints: BenchEndpoint[] = [];
  for (let i = 0; i < endpointsPerKind; i++) {
    for (const url of urls) endpoints.push(await rig.endpoint(`${url}/${i}`));
  }
  const startedAt = performance.now();
  const seconds = Math.max(2, secondsTotal * report.share);
  const commits = ratePerSecond * seconds;
  for (let i = 0; i < commits; i += commitsAtOnce) {
    report.deadline.throwIfAborted();
    const pauseMs = startedAt + (i * 1_000) / ratePerSecond - performance.now();
    if (pauseMs > 1) await pause(pauseMs);
    await Promise.all(Array.from({ length: commitsAtOnce }, (_, k) => rig.commit(merchantAt(endpoints, i + k))));
    if (i % (ratePerSecond * 10) === 0) report.progress(`${i} of ${commits} committed, ${rig.service.residentMb()} MB`);
  }
  const took = (performance.now() - startedAt) / 1_000;
  const [attempts] = await rig.db.rows<{ n: string; errors: string }>(
    "select count(*) as n, count(distinct error_code) as errors from attempts",
    [],
  );
  report.row(
    `resident memory under ${endpoints.length} hostile receivers of ${urls.length} kinds, ${Math.round(commits / took)}/s, at most`,
    `${rig.service.peakMb()} MB`,
  );
  report.row("  attempts meanwhile, ended in how many ways", `${attempts?.n}, ${attempts?.errors}`);
}

const merchantAt = (endpoints: readonly BenchEndpoint[], i: number) =>
  endpoints[i % endpoints.length]?.merchantId ?? "";
