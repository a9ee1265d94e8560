// Adyen's payment links: the page of the surface `redirect`. A link can be read and ended.
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { IntentReport, Mount, ProcessorAccount, ProcessorAnswer } from "../connector.ts";
import type { Notice } from "../notice-log.ts";
import { type AdyenClient, commandAnswer, queryAnswer } from "./client.ts";

const LinkShape = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 255 }),
  url: Type.String({ pattern: "^https?://" }),
  expiresAt: Type.String(),
  reference: Type.String(),
  amount: Type.Object({ currency: Type.String(), value: Type.Integer() }),
  status: Type.String(),
});
type Link = Static<typeof LinkShape>;
const shape = Compile(LinkShape);

export function readLink(body: unknown): Link {
  if (!shape.Check(body)) throw new Error("not a payment link of Adyen");
  return body;
}

export async function readPage(
  client: AdyenClient,
  { environment, credentials }: ProcessorAccount,
  id: string,
): Promise<ProcessorAnswer<Link>> {
  return queryAnswer(await client.call(environment, credentials, { method: "GET", path: pathOf(id) }), readLink);
}

/** Ends a link; declined if a payment there is under way or made. */
export async function endPage(
  client: AdyenClient,
  { environment, credentials }: ProcessorAccount,
  id: string,
): Promise<ProcessorAnswer<Link>> {
  const call = { method: "PATCH", path: pathOf(id), json: { status: "expired" } } as const;
  return commandAnswer(await client.call(environment, credentials, call), readLink);
}

const pathOf = (id: string) => `/paymentLinks/${encodeURIComponent(id)}`;

export function linkMount(link: Pick<Link, "url" | "expiresAt">): Mount {
  const nothing = { publishableKey: "", clientSecret: "", scriptUrl: "", frameUrl: "" };
  return { ...nothing, kind: "redirect", redirectUrl: link.url, expiresAt: new Date(link.expiresAt) };
}

/** The report, with what the link itself shows of a payment that no webhook has reported. */
export function withPage(report: IntentReport, link: Link, made: Notice): IntentReport {
  if (report.facts.some(({ kind }) => kind === "attempt_succeeded")) return report;
  if (link.status === "expired") return { ...report, pageEndedAt: new Date(link.expiresAt) };
  if (!payingStatuses.has(link.status)) return report;
  // Newer than the tries that failed.
  const tries = report.facts.flatMap((fact) => ("attempt" in fact ? [fact.attempt.startedAt] : []));
  const startedAt = tries.at(-1) ?? made.at;
  const attempt = { ref: link.id, startedAt, card: undefined, verification: undefined };
  return { ...report, facts: [...report.facts, { kind: "processing_started", attempt }] };
}

const payingStatuses: ReadonlySet<string> = new Set(["completed", "paid", "paymentPending"]);
