// Adyen's standard webhooks: items signed by the validator of Adyen's own library, the POST with basic auth, and a
// sender that repeats until a 2xx, shuffles and sends doubles.
import { isDeepStrictEqual } from "node:util";
import type { NotificationRequestItem } from "@adyen/api-library/lib/src/typings/notification/models.js";
import Validator from "@adyen/api-library/lib/src/utils/hmacValidator.js";
import { Random } from "../../chaos/random.ts";
import { misfitsOf, type Wire } from "./adyen-fields.ts";

type LibraryItem = Wire<Omit<NotificationRequestItem, "eventCode" | "operations">>;
export interface NotificationFields extends LibraryItem {
  /** Also codes that the library does not list, such as PREARBITRATION_OPEN. */
  readonly eventCode: string;
  readonly operations?: readonly string[];
}
export interface NotificationItem {
  readonly NotificationRequestItem: NotificationFields;
}
export interface WebhookCredentials {
  readonly hmacKey: string;
  readonly webhookUser: string;
  readonly webhookPassword: string;
}
export interface WebhookPost {
  readonly body: Uint8Array;
  readonly headers: Record<string, string>;
}

const validator = new Validator.default();

/** The item with the signature over its eight signed fields. Fails on a field that Adyen does not have. */
export function signItem(fields: NotificationFields, hmacKey: string): NotificationItem {
  const { eventCode: _free, operations: _listed, ...judged } = fields;
  const model = { ...judged, eventCode: "CAPTURE" };
  const misfits = misfitsOf("notification", "NotificationRequestItem", model);
  if (misfits.length > 0) throw new Error(`no webhook of Adyen's: ${misfits.join("; ")}`);
  const hmacSignature = validator.calculateHmac(fields as unknown as NotificationRequestItem, hmacKey);
  return { NotificationRequestItem: { ...fields, additionalData: { ...fields.additionalData, hmacSignature } } };
}

/** One POST; Adyen's JSON holds one item, but may hold more. */
export function postOf(items: readonly NotificationItem[], credentials: WebhookCredentials): WebhookPost {
  const { webhookUser, webhookPassword } = credentials;
  const basic = Buffer.from(`${webhookUser}:${webhookPassword}`).toString("base64");
  const body = Buffer.from(JSON.stringify({ live: "false", notificationItems: items }));
  return { body, headers: { "content-type": "application/json", authorization: `Basic ${basic}` } };
}

export interface SendOptions {
  readonly shuffle?: boolean;
  readonly double?: boolean;
  /** How often an item without a 2xx is sent again. Adyen repeats it for 30 days, later and later (S9). */
  readonly rounds?: number;
}

/** Sends each item in a POST of its own until it got a 2xx, and takes it from the queue. */
export async function sendQueue(
  queue: NotificationItem[],
  url: string,
  credentials: WebhookCredentials,
  { shuffle = false, double = false, rounds = 5 }: SendOptions,
): Promise<void> {
  const random = new Random(queue.length);
  for (let round = 0; round < rounds && queue.length > 0; round++) {
    const posts = queue.flatMap((item) => [{ item, sent: item }, ...(double ? [{ item, sent: redated(item) }] : [])]);
    const drawn = posts.map((post) => ({ ...post, at: shuffle ? random.next() : 0 }));
    for (const { item, sent } of drawn.toSorted((one, other) => one.at - other.at)) {
      const answer = await fetch(url, { method: "POST", ...postOf([sent], credentials) });
      await answer.arrayBuffer();
      const index = queue.findIndex((each) => isDeepStrictEqual(each, item));
      if (answer.ok && index >= 0) queue.splice(index, 1);
    }
  }
}

/** A double has the same event code and pspReference; fields that are not signed may differ (S9). */
function redated(item: NotificationItem): NotificationItem {
  const { eventDate, reason = "", ...rest } = item.NotificationRequestItem;
  const later = timeOf(Date.parse(eventDate) + 1_000);
  return { NotificationRequestItem: { ...rest, eventDate: later, reason: `${reason} (again)`.trim() } };
}

/** Adyen's times have an offset. */
export function timeOf(ms: number): string {
  return `${new Date(ms + 3_600_000).toISOString().slice(0, 19)}+01:00`;
}
