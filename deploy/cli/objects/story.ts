// What the person on call is told of one object: lines in time order, out of several services, each of which may be
// away.
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import type { Delivery } from "#proto/webhook/v1/webhook_pb.ts";
import type { Row } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { timeText } from "../wire.ts";

export interface Line {
  readonly at?: Timestamp | undefined;
  /** `next`: it is still to come. */
  readonly part: string;
  readonly id: string;
  readonly what: string;
}

/** By time, and what comes next behind all that happened. */
export function inOrder(lines: readonly Line[]): Row[] {
  const isNext = ({ part }: Line) => Number(part === "next");
  const timeMs = ({ at }: Line) => (at ? timestampMs(at) : 0);
  return [...lines]
    .sort((a, b) => isNext(a) - isNext(b) || timeMs(a) - timeMs(b))
    .map(({ at, part, id, what }) => ({ at: timeText(at), part, id, what }));
}

/** The rest is still told while one service is away: that is when somebody asks. */
export function whileAway(): {
  /** Who did not answer, and why. */
  readonly away: string[];
  from<T>(service: string, pending: Promise<T[]>): Promise<T[]>;
} {
  const away: string[] = [];
  const from = async <T>(service: string, pending: Promise<T[]>): Promise<T[]> => {
    try {
      return await pending;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      away.push(`${service} (${error.reason})`);
      return [];
    }
  };
  return { away, from };
}

/** To stand behind a remark. */
export function missingText(away: readonly string[]): string {
  return away.length > 0 ? `; not told, the service does not answer: ${away.join(", ")}` : "";
}

// Each costs a call.
const attemptedMax = 50;

/** Deliveries with their attempts, and when each goes again. */
export async function linesOfDeliveries(
  peers: OperatorPeers,
  merchantId: string,
  deliveries: readonly { readonly endpointId: string; readonly delivery?: Delivery | undefined }[],
): Promise<Line[]> {
  const lines: Line[] = [];
  for (const [i, { endpointId, delivery }] of deliveries.entries()) {
    if (!delivery) continue;
    const { id, eventType, attempts, delivered, failed, lastError, nextAttemptAt, createdAt } = delivery;
    const state = delivered ? "delivered" : failed ? `given up, ${lastError}` : "pending";
    const what = `${eventType} to ${endpointId}: ${state}, attempts ${attempts}`;
    lines.push({ at: createdAt, part: "delivery", id, what });
    if (!delivered && !failed) {
      lines.push({ at: nextAttemptAt, part: "next", id, what: `${eventType} is sent to ${endpointId} again` });
    }
    if (i >= attemptedMax) continue;
    const made = await peers.webhooks.listAttempts({ merchantId, deliveryId: id });
    for (const { startedAt, trigger, statusCode, errorCode, durationMs } of made.attempts) {
      const answer = statusCode > 0 ? `answer ${statusCode}` : "no answer";
      const text = `${trigger} attempt: ${answer}${errorCode && `, ${errorCode}`}, ${durationMs} ms`;
      lines.push({ at: startedAt, part: "delivery", id, what: text });
    }
  }
  return lines;
}
