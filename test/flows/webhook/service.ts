// The webhook service inside a flow test: on a fresh database, with events as payments publishes them, delivering to
// receivers on this machine.
import { readFileSync } from "node:fs";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { Database } from "#platform/database/database.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { eventSubject } from "#platform/events/streams.ts";
import { ownHost } from "#platform/process/host.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { parseCidr } from "#platform/values/address-range.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { type TlsFiles, tlsFiles } from "../../../deploy/local/state/tls.ts";
import { startWebhook } from "../../../services/webhook/service.ts";
import type { WebhookConfig } from "../../../services/webhook/settings.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import {
  type AnnouncingPayments,
  noteAnnounced,
  startAnnouncingPayments,
} from "../../harness/payments/announcing-payments.ts";
import { tempDir } from "../../harness/temp-dir.ts";
import { serviceConfig } from "../service-config.ts";

/** A replica of the service, with its database and event bus. */
export interface WebhookTest {
  readonly config: WebhookConfig;
  /** Files of the authority that the service trusts, and of the receivers' certificate. */
  readonly tls: TlsFiles;
  readonly webhooks: Client<typeof WebhookService>;
  readonly url: string;
  readonly token: string;
  readonly db: Database;
  readonly bus: EventBus;
  /** Where it reads payments. */
  readonly source: AnnouncingPayments;
  /** Publishes an event of the payments service. @returns its id and the payment's */
  announce(event: {
    merchantId: string;
    environment?: 1 | 2;
    type?: string;
    status?: string;
    paymentId?: string;
    eventId?: string;
    /** The message id in the stream; by default the event's id. */
    messageId?: string;
    facts?: MessageInitShape<typeof EventSchema>;
  }): Promise<{
    eventId: string;
    paymentId: string;
  }>;
  stop(): Promise<void>;
}

/** A schedule of quick retries. */
export const quickRetries = { WEBHOOK_RETRY_BASE_MS: 50, WEBHOOK_RETRY_CAP_MS: 200, WEBHOOK_ATTEMPTS_MAX: 4 };

type Options = Parameters<typeof startWebhook>[2];

/** Starts the service. By default loopback addresses are allowed. */
export async function startWebhookTest(
  settings: Partial<WebhookConfig> = {},
  options: Options = {},
): Promise<WebhookTest> {
  const tls = await tlsFiles(await tempDir("webhook"));
  const common = await serviceConfig("webhook");
  const log = createLog("test", "error");
  const paymentsUrl = (await freshDatabase("payments")).url;
  const paymentsDb = await Database.open({ url: paymentsUrl, name: "test", log });
  const payments = await startAnnouncingPayments(paymentsDb, common.RPC_CALLERS_FILE);
  const config: WebhookConfig & { RPC_TOKEN: string } = {
    ...common,
    DATABASE_CONNECTIONS: 12, // eight changes of an endpoint wait for each other
    CHECKOUT_URL: payments.url,
    PAYMENTS_URL: payments.url,
    MERCHANT_URL: undefined,
    IDEMPOTENCY_LEASE_SECONDS: 90,
    WEBHOOK_ALLOW_CIDRS: [parseCidr("127.0.0.0/8"), parseCidr("::1/128")],
    WEBHOOK_EXTRA_CA: readFileSync(tls.ca, "utf8"),
    WEBHOOK_EGRESS_PROXY: undefined,
    WEBHOOK_TIMEOUT_MS: 10_000,
    ...quickRetries,
    ...settings,
  };
  const service = await startWebhook(config, ownHost, options);
  const db = await Database.open({ url: config.DATABASE_URL, name: "test", log });
  const bus = new EventBus({ broker: { url: config.NATS_URL }, namespace: config.NATS_NAMESPACE, name: "test", log });
  await eventually("the bus to be connected", () => bus.connected);
  const url = `http://127.0.0.1:${service.port}`;
  const peer = connectPeer({ url, token: config.RPC_TOKEN });
  return {
    config,
    tls,
    url,
    token: config.RPC_TOKEN,
    webhooks: peer.client(WebhookService),
    db,
    bus,
    source: payments,
    announce: (event) => announce({ bus, paymentsDb }, config.NATS_NAMESPACE, event),
    async stop() {
      peer.close();
      await service.stop();
      await payments.stop();
      await bus.close();
      await paymentsDb.close();
      await db.close();
    },
  };
}

async function announce(
  by: { bus: EventBus; paymentsDb: Database },
  namespace: string,
  change: Parameters<WebhookTest["announce"]>[0],
) {
  const type = change.type ?? "payment.succeeded";
  const event = create(EventSchema, {
    id: change.eventId ?? newId("event"),
    type,
    source: "payments",
    merchantId: change.merchantId,
    environment: change.environment ?? 1,
    objectId: change.paymentId ?? newId("payment"),
    status: change.status ?? "succeeded",
    occurredAt: timestampNow(),
    ...change.facts,
  });
  const subject = eventSubject(namespace, "payments", type);
  const noted = await noteAnnounced(by.paymentsDb, [{ id: event.id, subject, body: toBinary(EventSchema, event) }]);
  for (const body of noted.values()) await by.bus.publish(subject, change.messageId ?? event.id, body);
  return { eventId: event.id, paymentId: event.objectId };
}
