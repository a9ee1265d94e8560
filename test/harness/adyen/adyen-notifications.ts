// Adyen's standard webhooks of a merchant account: items signed by the validator of Adyen's own library, the POST with
// basic auth, and a sender that repeats until a 2xx, shuffles and sends doubles.
import type { NotificationRequestItem } from "@adyen/api-library/lib/src/typings/notification/models.js";
import Validator from "@adyen/api-library/lib/src/utils/hmacValidator.js";
import { Random } from "../../chaos/random.ts";
import { misfitsOf, type Wire } from "./adyen-fields.ts";

export interface NotificationFields extends Wire<Omit<NotificationRequestItem, "eventCode" | "operations">> {
  /** Also codes that the library does not list, such as PREARBITRATION_OPEN. */
  readonly eventCode: string;
  readonly operations?: readonly string[];
}
export interface NotificationItem {
  readonly NotificationRequestItem: NotificationFields;
}
type CredentialName = "apiKey" | "clientKey" | "hmacKey" | "webhookUser" | "webhookPassword";
export type AdyenCredentials = Readonly<Record<CredentialName, string>>;

const validator = new Validator.default();

export class WebhookQueue {
  readonly credentials: AdyenCredentials;
  /** Items not yet sent, in the order of creation. */
  readonly queue: NotificationItem[] = [];

  constructor(credentials: AdyenCredentials) {
    this.credentials = credentials;
  }

  /** Signs an item and queues it. Fails on a field that Adyen does not have. */
  announce(fields: NotificationFields): void {
    const { operations: _listed, ...judged } = fields;
    const misfits = misfitsOf("notification", "NotificationRequestItem", { ...judged, eventCode: "CAPTURE" });
    if (misfits.length > 0) throw new Error(`no webhook of Adyen's: ${misfits.join("; ")}`);
    const hmacSignature = validator.calculateHmac(fields as NotificationRequestItem, this.credentials.hmacKey);
    const additionalData = { ...fields.additionalData, hmacSignature };
    this.queue.push({ NotificationRequestItem: { ...fields, additionalData } });
  }

  /** The items as one POST of Adyen's, whose JSON holds one, but may hold more. */
  deliver(...items: NotificationItem[]): { body: Uint8Array; headers: Record<string, string> } {
    const { webhookUser, webhookPassword } = this.credentials;
    const basic = Buffer.from(`${webhookUser}:${webhookPassword}`).toString("base64");
    const body = Buffer.from(JSON.stringify({ live: "false", notificationItems: items }));
    return { body, headers: { "content-type": "application/json", authorization: `Basic ${basic}` } };
  }

  /**
   * Sends each item of the queue in a POST of its own until it got a 2xx. @param options `rounds`: how often an item
   * is sent; Adyen repeats for 30 days, later and later (second hand)
   */
  async send(url: string, options: { shuffle?: boolean; double?: boolean; rounds?: number } = {}): Promise<void> {
    const { shuffle = false, double = false, rounds = 5 } = options;
    const random = new Random(this.queue.length);
    for (let round = 0; round < rounds && this.queue.length > 0; round++) {
      const posts = this.queue.flatMap((item) => [
        [item, item] as const,
        ...(double ? [[item, redated(item)] as const] : []),
      ]);
      const drawn = posts.map(([item, sent]) => ({ item, sent, at: shuffle ? random.next() : 0 }));
      for (const { item, sent } of drawn.toSorted((one, other) => one.at - other.at)) {
        const answer = await fetch(url, { method: "POST", ...this.deliver(sent) });
        await answer.arrayBuffer();
        if (answer.ok && this.queue.includes(item)) this.queue.splice(this.queue.indexOf(item), 1);
      }
    }
  }
}

/** A double has the same event code and pspReference; fields that are not signed may differ (second hand). */
function redated({ NotificationRequestItem: item }: NotificationItem): NotificationItem {
  const eventDate = timeOf(Date.parse(item.eventDate) + 1_000);
  return { NotificationRequestItem: { ...item, eventDate, reason: `${item.reason ?? ""} (again)`.trim() } };
}

/** Adyen's times have an offset. */
export function timeOf(ms: number): string {
  return `${new Date(ms + 3_600_000).toISOString().slice(0, 19)}+01:00`;
}
