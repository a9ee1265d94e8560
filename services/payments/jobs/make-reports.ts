// Writes ordered reports, each for a turn, so that a long one delays no short one; and deletes the files of old ones.
import { randomUUID } from "node:crypto";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { type MakeReportDeps, makeReport, type TurnSize } from "../flows/reports/make-report.ts";
import { claimReport, failReport, releaseReport, sweepReports } from "../store/reports.ts";

type MakeReportsDeps = MakeReportDeps & { readonly log: Log };

// Turns without a single piece: the report itself is the cause then.
const triesMax = 20;

/** @returns true: there may be more */
export async function makeNextReport(deps: MakeReportsDeps, size?: TurnSize): Promise<boolean> {
  const work = await claimReport(deps.db, randomUUID());
  if (!work) return false;
  if (work.tries > triesMax) {
    deps.log.error({ report_id: work.id, tries: work.tries }, "report failed: no piece could be written");
    await failReport(deps.db, work, "internal_error");
  } else if (!(await makeReport(deps, work, size))) await releaseReport(deps.db, work);
  return true;
}

export function makeReportsJobs(deps: MakeReportsDeps): readonly JobContext[] {
  return [
    { name: "make-reports", everyMs: 2_000, runOnce: () => makeNextReport(deps) },
    { name: "sweep-reports", everyMs: 600_000, runOnce: () => sweepReports(deps.db) },
  ];
}
