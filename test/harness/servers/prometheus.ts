// A real Prometheus (Debian's package, or any in PATH) that reads a running stack, with the project's alert rules in
// fast motion.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../../deploy/local/free-port.ts";
import { eventually } from "../eventually.ts";
import { tempDir } from "../temp-dir.ts";

/** The reason why it is missing; undefined: installed. */
export const missingPrometheus: string | undefined = (() => {
  try {
    for (const program of ["prometheus", "promtool"]) execFileSync(program, ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no prometheus and promtool in PATH (Debian: apt-get install prometheus)";
  }
})();

/**
 * Shortens ranges, waits and thresholds of time, so that a drill takes seconds; the expressions stay the same. A
 * condition must still last for several readings, as in production. A job hangs for a hundredth of its limit.
 * Thresholds of hours and days stay: drills make rows older.
 */
export function inFastMotion(rules: string): string {
  return rules
    .replaceAll(/\[\d+[smhd]\]/g, "[15s]")
    .replaceAll(/ offset \d+[smhd]/g, " offset 15s")
    .replaceAll(/^( +for:) .*$/gm, "$1 3s")
    .replaceAll(/> (?:60|900|7200)$/gm, "> 3")
    .replaceAll(/(tollbooth_job_limit_seconds\)) > 0\.6$/gm, "$1 > 0.01");
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Prometheus {
  query(expression: string): Promise<Series[]>;
  /** Names of the alerts that ring now. */
  firing(): Promise<Set<string>>;
  stop(): Promise<void>;
}

/**
 * @param targets admin URLs by job. @param rules as text.
 * @param pauses seconds between two readings of a job, which an answer may take; default 1
 */
export async function startPrometheus(
  targets: Readonly<Record<string, string>>,
  rules: string,
  pauses: Readonly<Record<string, number>> = {},
): Promise<Prometheus> {
  const dir = await tempDir("prometheus");
  const port = await freePort();
  const jobs = Object.entries(targets).map(
    ([job, url]) =>
      `  - job_name: ${job}\n    scrape_interval: ${pauses[job] ?? 1}s\n    scrape_timeout: ${pauses[job] ?? 1}s\n` +
      `    static_configs: [{ targets: ["${new URL(url).host}"] }]\n`,
  );
  await writeFile(join(dir, "rules.yaml"), rules);
  await writeFile(
    join(dir, "prometheus.yaml"),
    `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [rules.yaml]\nscrape_configs:\n${jobs.join("")}`,
  );
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(dir, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(dir, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const data = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v1/${path}`);
    const body: { status: string; data: unknown; error?: string } = JSON.parse(await answer.text());
    assert.equal(body.status, "success", body.error);
    return body.data;
  };
  await eventually("Prometheus to answer", async () => (await fetch(`${url}/-/ready`)).ok, { limitMs: 20_000 });
  return {
    query: async (expression) => {
      const { result } = (await data(`query?query=${encodeURIComponent(expression)}`)) as {
        result: { metric: Record<string, string>; value: [number, string] }[];
      };
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    firing: async () => {
      const { alerts } = (await data("alerts")) as { alerts: { state: string; labels: Record<string, string> }[] };
      return new Set(alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname ?? ""));
    },
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
