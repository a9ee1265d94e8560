// `tollbooth payments|sessions|refunds show`: the history of one payment from all four services in time order, and the
// next steps.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { TellPaymentResponse } from "#proto/payments/v1/operator_pb.ts";
import { type Answer, type Command, type Commands, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { environmentName } from "../wire.ts";
import { inOrder, type Line, linesOfDeliveries, missingText, whileAway } from "./story.ts";

const prefixes = { payment: "pay_", session: "cs_", refund: "re_" } as const;
type StoryNoun = keyof typeof prefixes;

export const payments: Commands = { show: show("payment") };
export const sessions: Commands = { show: show("session") };
export const refunds: Commands = { show: show("refund") };

// More than one payment's audit entries.
const auditMax = 200;

function show(noun: StoryNoun): Command {
  return {
    about: `the history of ${noun === "payment" ? "a payment" : `a ${noun}'s payment`} in time order, of any merchant and environment: session, attempts, operations at the processor, journal, refunds, disputes, deliveries, audit entries, and the next steps`,
    args: [noun],
    run: async (peers, input) => await showPayment(peers, assertNoun(noun, input.arg(noun))),
  };
}

function assertNoun(noun: StoryNoun, id: string): string {
  if (isId(noun, id)) return id;
  const other = (Object.keys(prefixes) as StoryNoun[]).find((each) => isId(each, id));
  if (other) throw new UsageError(`${id} is a ${other}: tollbooth ${other}s show ${id}`);
  if (id.startsWith("op_")) throw new UsageError(`${id} is an operation: tollbooth operations show ${id}`);
  throw new UsageError(`a ${noun}'s id is ${prefixes[noun]} and 26 characters`);
}

async function showPayment(peers: OperatorPeers, id: string): Promise<Answer> {
  const story = await peers.operations.tellPayment({ objectId: id }).catch(noneIfUnknown);
  if (!story) return { rows: [], remark: `${id} not found, neither in live nor in sandbox`, isBad: true };
  const { away, from } = whileAway();
  const parts = await Promise.all([
    from("checkout", sessionLines(peers, story)),
    from("webhook", deliveryLines(peers, story)),
    from("merchant", auditLines(peers, story)),
  ]);
  const lines = [...story.lines, ...parts.flat()];
  const { paymentId, merchantId, environment, status } = story;
  const known = `${paymentId}: ${status}, of ${merchantId}, ${environmentName(environment)}`;
  return { rows: inOrder(lines), remark: known + missingText(away), isBad: away.length > 0 };
}

function noneIfUnknown(error: unknown): undefined {
  if (!(error instanceof Failure) || error.reason !== "NOT_FOUND") throw error;
}

async function sessionLines(peers: OperatorPeers, story: TellPaymentResponse): Promise<Line[]> {
  const { merchantId, environment, sessionId } = story;
  if (sessionId === "") return [];
  const find = peers.sessions.getSession({ merchantId, environment, sessionId });
  const session = await find.then((found) => found.session).catch(noneIfUnknown);
  // An unpaid session ends by itself; its payment stays.
  if (!session) return [];
  const line = (at: Timestamp | undefined, what: string) => ({ at, part: "session", id: sessionId, what });
  const { createdAt, completedAt, expiresAt, status, surface, customerEmail } = session;
  const buyer = customerEmail === "" ? "no e-mail" : maskedEmail(customerEmail);
  const isOpen = status === "open" || status === "processing";
  return [
    line(createdAt, `created for the ${surface} surface, buyer ${buyer}; now ${status}`),
    ...(completedAt ? [line(completedAt, "completed")] : []),
    ...(isOpen ? [{ ...line(expiresAt, `session ${sessionId} expires unless it is paid`), part: "next" }] : []),
  ];
}

/** Distinguishes two buyers without showing their addresses. */
function maskedEmail(email: string): string {
  const at = email.lastIndexOf("@");
  return `${email.slice(0, 1)}…${at > 0 ? email.slice(at) : ""}`;
}

async function deliveryLines(peers: OperatorPeers, story: TellPaymentResponse): Promise<Line[]> {
  const { merchantId, environment, paymentId } = story;
  const { deliveries } = await peers.webhooks.listPaymentDeliveries({ merchantId, environment, paymentId });
  return await linesOfDeliveries(peers, merchantId, deliveries);
}

async function auditLines(peers: OperatorPeers, story: TellPaymentResponse): Promise<Line[]> {
  const { merchantId, paymentId, sessionId, refundIds } = story;
  const operations = story.lines.filter(({ part, id }) => part === "operation" && id !== "").map(({ id }) => id);
  const objects = [...new Set([paymentId, sessionId, ...refundIds, ...operations])].filter((id) => id !== "");
  const lines: Line[] = [];
  for (const objectId of objects) {
    const { entries } = await peers.audit.listAuditEntries({ merchantId, objectId, pageSize: auditMax });
    for (const { occurredAt, action, actor, requestId } of entries) {
      const what = `${action} by ${actor || "the service itself"}${requestId && `, request ${requestId}`}`;
      lines.push({ at: occurredAt, part: "audit", id: objectId, what });
    }
  }
  return lines;
}
