// Receives browsers' reports of violations of the payment page's policy. Counts and logs directive and origin, never
// path, query or sample, which may hold a buyer's secret. Reports are unauthenticated and prove nothing.
import type { Log } from "#platform/telemetry/log.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import type { GatewayContext } from "../../auth/auth.ts";
import { ApiError } from "../../failures.ts";
import { reportPath } from "../../web/page-headers.ts";

// Browsers send a few reports at once, a few hundred bytes each.
const reportsMaxBytes = 16 * 1024;
const reportsMax = 10;
const types = ["application/reports+json", "application/csp-report", "application/json"];

interface PolicyReport {
  readonly directive: string;
  readonly disposition: "enforce" | "report";
  /** An origin, or a keyword such as `inline`. */
  readonly blocked: string;
}

export function pageReportRoutes(
  { app, addresses, metrics }: Pick<GatewayContext, "app" | "addresses" | "metrics">,
  log: Log,
): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(types, { parseAs: "string" }, async (_request: unknown, body: string | Buffer) =>
      parsed(String(body)),
    );
    scope.post(
      reportPath,
      { bodyLimit: reportsMaxBytes, onRequest: async (request, reply) => addresses.takeForReport(request, reply) },
      async (request, reply) => {
        for (const report of readReports(request.body)) {
          metrics.policyReports.inc({ directive: report.directive, disposition: report.disposition });
          log.warn({ ...report, request_id: request.call.requestId }, "payment page policy violated");
        }
        return reply.code(204).send();
      },
    );
    done();
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("invalid_body");
  }
}

/** Reads a list of the Reporting API, or a single report of `report-uri`. */
export function readReports(json: unknown): readonly PolicyReport[] {
  const all: readonly unknown[] = Array.isArray(json) ? json.slice(0, reportsMax) : [json];
  return all.flatMap((each) => {
    const { body, "csp-report": older } = membersOf(each);
    const report = membersOf(older ?? body);
    const directive = report["effective-directive"] ?? report["violated-directive"] ?? report.effectiveDirective;
    if (typeof directive !== "string") return [];
    return {
      directive: known.has(directive) ? directive : "other",
      disposition: report.disposition === "report" ? "report" : "enforce",
      blocked: blockedOf(report["blocked-uri"] ?? report.blockedURL),
    };
  });
}

const known = new Set(
  [
    "script-src",
    "script-src-elem",
    "script-src-attr",
    "style-src",
    "style-src-elem",
    "style-src-attr",
    "img-src",
  ].concat([
    "connect-src",
    "frame-src",
    "form-action",
    "frame-ancestors",
    "require-trusted-types-for",
    "trusted-types",
  ]),
);

function blockedOf(blocked: unknown): string {
  if (typeof blocked !== "string") return "";
  if (/^[a-z-]{1,30}$/.test(blocked)) return blocked;
  return URL.canParse(blocked) ? new URL(blocked).origin.slice(0, 100) : "other";
}
