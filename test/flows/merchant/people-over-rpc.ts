// The merchant service over RPC as consoles and operators call it, on a fresh database, and people who join by
// invitation with a software passkey.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { EventBus } from "#platform/events/event-bus.ts";
import { eventSubject } from "#platform/events/streams.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import type { CallerName } from "#platform/secrets/callers.ts";
import type { RunningService } from "#platform/service/service.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { callContext } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { Door, PeopleService, SignInService } from "#proto/merchant/v1/people_pb.ts";
import { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { sources } from "../../../services/services.ts";
import { SoftwareAuthenticator } from "../../harness/software-authenticator.ts";
import { type AnnouncedEvents, listenTo, serviceConfig } from "../service-config.ts";

export const consoleOrigin = "https://console.shop.example";
export const operatorsOrigin = "https://operators.shop.example";
const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
const browser = { address: "203.0.113.7", agent: "Test/1" };

/** A signed-in person. */
export interface SignedIn {
  readonly email: string;
  readonly personId: string;
  readonly secret: string;
  readonly passkey: SoftwareAuthenticator;
}

interface InvitationInput {
  readonly email?: string;
  readonly role?: string;
  readonly door?: Door;
}

export interface PeopleOverRpc {
  readonly signIn: Client<typeof SignInService>;
  /** Called by a console. */
  readonly people: Client<typeof PeopleService>;
  /** Called by an operator's command. */
  readonly operator: Client<typeof PeopleService>;
  /** Called with every permitted caller's token, like applications, connectors, keys and receipts. */
  readonly merchants: Client<typeof MerchantService>;
  readonly applications: Client<typeof ApplicationService>;
  readonly connectors: Client<typeof ConnectorService>;
  readonly announced: AnnouncedEvents;
  /** As the tables' owner. */
  readonly database: pg.Client;
  readonly databaseUrl: string;
  /** The RPC address, and an operator's token. */
  readonly url: string;
  readonly operatorToken: string;
  readonly keys: Client<typeof ApiKeyService>;
  readonly receipts: Client<typeof ReceiptService>;
  /** Announces an event as its source does; default: payments. */
  announce(event: MessageInitShape<typeof EventSchema>): Promise<void>;
  newMerchant(): Promise<string>;
  /** @returns the token of the invitation's link */
  issueInvitation(merchantId: string, input?: InvitationInput): Promise<string>;
  /** A signed-in member of the merchant with a fresh proof. */
  joinMember(merchantId: string, input?: InvitationInput): Promise<SignedIn>;
  /** Another replica, which runs each job at its start. */
  startReplica(): Promise<RunningService>;
  stop(): Promise<void>;
}

export const originOf = (door: Door) => (door === Door.OPERATORS ? operatorsOrigin : consoleOrigin);
export const anEmail = () => `${randomBytes(6).toString("hex")}@shop.example`;

/** The token at the end of a link. */
export const tokenOf = (link: string) => link.slice(link.lastIndexOf("/") + 1);

export async function startPeopleOverRpc(
  settings: Partial<Parameters<typeof startMerchant>[0]> = {},
): Promise<PeopleOverRpc> {
  const config = await serviceConfig("merchant");
  const tokens = new Map<string, readonly CallerName[]>([
    [randomBytes(16).toString("hex"), ["console"]],
    [randomBytes(16).toString("hex"), ["operator"]],
    [randomBytes(16).toString("hex"), ["operator", "gateway", "console", "checkout", "payments"]],
  ]);
  const [consoleToken = "", operatorToken = "", anyToken = ""] = [...tokens.keys()];
  const announced = await listenTo(config, "merchant");
  const start = () =>
    startMerchant({
      ...config,
      ...simulator,
      CONSOLE_ORIGIN: consoleOrigin,
      OPERATORS_CONSOLE_ORIGIN: operatorsOrigin,
      RPC_CALLERS_FILE: { of: (token) => tokens.get(token) ?? [], problem: undefined },
      ...settings,
    });
  const service = await start();
  const url = `http://127.0.0.1:${service.port}`;
  const [byConsole, byOperator, byAny] = [consoleToken, operatorToken, anyToken].map((token) =>
    connectPeer({ url, token }),
  );
  assert(byConsole && byOperator && byAny);
  const bus = new EventBus({
    broker: { url: config.NATS_URL },
    namespace: config.NATS_NAMESPACE,
    name: "payments",
    log: createLog("test", "error"),
  });
  const database = new pg.Client(config.DATABASE_URL);
  await database.connect();
  const merchants = byAny.client(MerchantService);
  const signIn = byConsole.client(SignInService);
  const operator = byOperator.client(PeopleService);

  async function issueInvitation(
    merchantId: string,
    { email = anEmail(), role = "owner", door = Door.MERCHANTS }: InvitationInput = {},
  ) {
    return tokenOf((await operator.inviteMember({ door, merchantId, email, role })).link);
  }

  return {
    signIn,
    people: byConsole.client(PeopleService),
    operator,
    merchants,
    applications: byAny.client(ApplicationService),
    connectors: byAny.client(ConnectorService),
    announced,
    database,
    databaseUrl: config.DATABASE_URL,
    url,
    operatorToken,
    keys: byAny.client(ApiKeyService),
    receipts: byAny.client(ReceiptService),
    startReplica: start,
    async announce(event) {
      const id = newId("event");
      const source = sources.find((each) => each === event.source) ?? "payments";
      const body = toBinary(EventSchema, create(EventSchema, { ...event, id, source }));
      await bus.publish(eventSubject(config.NATS_NAMESPACE, source, event.type ?? ""), id, body);
    },
    newMerchant: async () => {
      const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
      return (await merchants.createMerchant(profile)).merchant?.id ?? assert.fail("no merchant");
    },
    issueInvitation,
    async joinMember(merchantId, input = {}) {
      const { email = anEmail(), door = Door.MERCHANTS } = input;
      const token = await issueInvitation(merchantId, { ...input, email });
      const { session } = await signIn.acceptInvitation({ door, token, name: "Ada", browser });
      const passkey = new SoftwareAuthenticator(originOf(door));
      const full = await addPasskey(signIn, session?.secret ?? "", passkey);
      return { email, personId: session?.session?.person?.id ?? "", secret: full, passkey };
    },
    async stop() {
      await database.end();
      byConsole.close();
      byOperator.close();
      byAny.close();
      await bus.close();
      await announced.stop();
      await service.stop();
    },
  };
}

/** @returns the session's new secret */
export async function addPasskey(
  signIn: Client<typeof SignInService>,
  sessionSecret: string,
  passkey: SoftwareAuthenticator,
): Promise<string> {
  const { challengeId, optionsJson } = await signIn.beginPasskey({ sessionSecret });
  const responseJson = passkey.register(optionsJson);
  const { session } = await signIn.finishPasskey({ sessionSecret, challengeId, responseJson, name: "laptop" });
  return session?.secret ?? assert.fail("no session");
}

/** Signs in by passkey. @returns the session */
export async function signedIn(
  signIn: Client<typeof SignInService>,
  passkey: SoftwareAuthenticator,
  door = Door.MERCHANTS,
) {
  const { challengeId, optionsJson } = await signIn.beginPasskeySignIn({ door });
  const { session } = await signIn.finishPasskeySignIn({
    door,
    challengeId,
    responseJson: passkey.assert(optionsJson),
    browser,
  });
  assert(session);
  return session;
}

/** Calls as a console or gateway does for this person or key. */
export function onBehalf<T>(actor: string, call: () => Promise<T>): Promise<T> {
  return callContext.run({ requestId: newId("request"), actor, traceparent: "", deadlineMs: undefined }, call);
}
