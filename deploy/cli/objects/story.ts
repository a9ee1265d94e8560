// The history of one object for an operator: lines from several services in time order. Unavailable services are named.
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import type { Delivery } from "#proto/webhook/v1/webhook_pb.ts";
import type { Row } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { timeText } from "../wire.ts";

export interface Line {
  readonly at?: Timestamp | undefined;
  /** `next`: a future step. */
  readonly part: string;
  readonly id: string;
  readonly what: string;
}

/** Sorts by time, future steps last. */
export function inOrder(lines: readonly Line[]): Row[] {
  const isNext = ({ part }: Line) => Number(part === "next");
  const timeMs = ({ at }: Line) => (at ? timestampMs(at) : 0);
  return [...lines]
    .sort((a, b) => isNext(a) - isNext(b) || timeMs(a) - timeMs(b))
    .map(({ at, part, id, what }) => ({ at: timeText(at), part, id, what }));
}

/** Collects lines from services and notes those that are unavailable, since a history matters most during an outage. */
export function whileAway(): {
  /** Unavailable services, each with its error. */
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

/** Appended to a remark. */
export function missingText(away: readonly string[]): string {
  return away.length > 0 ? `; incomplete, unavailable services: ${away.join(", ")}` : "";
}

// Each needs a call.
const attemptedMax = 50;

/** Deliveries with their attempts and the time of the next one. */
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
