// Creates a session with its intent. Phases, each safe to rerun: 1 claim the idempotency key, which reserves the ids ·
// 2 screen for risk · 3 create the intent (payments is idempotent by the id) · 4 insert session, event and answer in
// one transaction. A retry with the key resumes a begun intent. A crash without a key leaves an unpayable intent, which
// payments cancels.
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { isDuplicate } from "#platform/database/database.ts";
import { type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import { type Id, idTimeMs, isId, newId } from "#platform/values/id.ts";
import { type CreateSessionResponse, CreateSessionResponseSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type CreateIntentRequestSchema, RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { toSession } from "../messages.ts";
import { screenCreation } from "../risk/screen-risk.ts";
import type { RiskDecision } from "../rules/risk.ts";
import { paymentIdOf } from "../rules/session.ts";
import { requestViolations } from "../rules/session-request.ts";
import { insertSessions, type NewSession, type SessionInsert } from "../store/new-sessions.ts";
import { sessionEvent } from "./apply-fact.ts";
import { pageUrl, returnUrlOf } from "./buyers/return-token.ts";
import { reserveUse } from "./links/reserve-use.ts";
import { resumeBegun } from "./resume-key.ts";
import { imageOf } from "./session-image.ts";
import { linkSessionSecrets, newSessionSecret, sealRender } from "./session-secret.ts";

interface SessionRequest extends Omit<NewSession, "id" | "connector" | "surface" | "createdAt" | "expiresAt"> {
  readonly expiresInSeconds: number;
  /** Of the account that the merchant names; may be empty. */
  readonly connectorId: string;
  /** Types of methods; empty: those that the account offers. */
  readonly paymentMethods: readonly string[];
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws NoUseLeft, Failure INVALID_BODY, PAYMENT_BLOCKED, NO_CONNECTOR, FORBIDDEN, CONNECTOR_ERROR, IDEMPOTENCY_… */
export async function createSession(context: CheckoutContext, request: SessionRequest): Promise<CreateSessionResponse> {
  const isSandbox = request.environment === Environment.SANDBOX;
  const violations = requestViolations({ ...request, isSandbox });
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  return await withIdempotency(
    context.keys,
    CreateSessionResponseSchema,
    request.idempotency,
    newId("session"),
    async ({ id, isResumed, finish }) => {
      crashPoint("create-session.1-claimed");
      if (!isId("session", id)) throw new Error("the key belongs to another kind of object");
      return await makeSession(context, request, { id, isResumed }, async (opened, response) => {
        const { paymentLinkId } = request;
        if (!finish && paymentLinkId === "") return void (await context.db.batched(insertSessions, opened));
        await context.db.transaction(async (tx) => {
          if (paymentLinkId !== "") await reserveUse(tx, paymentLinkId);
          await Promise.all([insertSessions(tx, [opened]), finish?.(tx, response)]);
        });
      });
    },
  );
}

/** Phase 4: writes the session and its event. */
type Commit = (opened: SessionInsert, response: CreateSessionResponse) => Promise<void>;

interface ReservedSession {
  readonly id: Id<"session">;
  /** An earlier run with the key may have created the intent. */
  readonly isResumed: boolean;
}

async function makeSession(
  context: CheckoutContext,
  request: SessionRequest,
  { id, isResumed }: ReservedSession,
  commit: Commit,
): Promise<CreateSessionResponse> {
  // The time is taken from the id, so that a retry sends the same times to payments.
  const createdAt = new Date(idTimeMs(id));
  const expiresAt = new Date(createdAt.getTime() + request.expiresInSeconds * 1_000);
  const order = intentOrder(context, request, id, expiresAt);
  const begun = isResumed
    ? await resumeBegun(() => context.payments.createIntent({ ...order, resumeOnly: true }))
    : undefined;
  const decision = begun ? undefined : await screenSession(context, request, id);
  crashPoint("create-session.2-screened");
  const intent = begun ?? (await context.payments.createIntent(order));
  crashPoint("create-session.3-intent-made");
  if (!intent.render) throw new Failure("INTERNAL_ERROR", { cause: new Error("an intent without its render") });
  const { connector, surface, render } = intent;
  const session: NewSession = { ...request, id, createdAt, expiresAt, connector, surface };
  const [derived] = request.paymentLinkId === "" ? [] : linkSessionSecrets(context.hashKeys, id);
  const secret = derived ?? newSessionSecret(id);
  const response = create(CreateSessionResponseSchema, {
    session: toSession(session, undefined),
    sessionSecret: secret,
    render,
    checkoutUrl: context.checkoutOrigin === undefined ? "" : `${pageUrl(context.checkoutOrigin, id)}#${secret}`,
  });
  const created = sessionEvent("session.created", session, { status: "open", paymentStatus: "", failedAttempts: 0 });
  const image = imageOf(context.vault, id, response, request.idempotency);
  const events = context.outbox.toRows([{ ...created, attributes: { ...created.attributes, ...image } }]);
  const opened = {
    session,
    secretHash: context.hashKeys.hash(secret),
    render: sealRender(context.vault, id, toBinary(RenderSchema, render)),
    events,
    results: decision?.results ?? [],
  };
  await commit(opened, response).catch((error) => {
    if (!isDuplicate(error, "sessions_pkey")) throw error;
    // Another run with this key has inserted it and will store its answer.
    throw new Failure("IDEMPOTENCY_CONFLICT", { cause: error, retryAfterMs: 1_000 });
  });
  crashPoint("create-session.4-stored");
  context.outbox.wake();
  return response;
}

/** @throws Failure PAYMENT_BLOCKED. */
async function screenSession(
  context: CheckoutContext,
  request: SessionRequest,
  id: Id<"session">,
): Promise<RiskDecision> {
  const decision = await screenCreation(context, { ...request, id });
  if (decision.blocked) throw new Failure("PAYMENT_BLOCKED");
  return decision;
}

function intentOrder(
  context: CheckoutContext,
  request: SessionRequest,
  sessionId: Id<"session">,
  expiresAt: Date,
): MessageInitShape<typeof CreateIntentRequestSchema> {
  const { merchantId, environment, amount, currency, description, orderReference, ...rest } = request;
  const { customerEmail, metadata, captureMethod, lineItems, connectorId, paymentMethods } = rest;
  return {
    paymentId: paymentIdOf(sessionId),
    sessionId,
    merchantId,
    environment,
    amount,
    currency,
    description,
    orderReference,
    customerEmail,
    metadata: { ...metadata },
    captureMethod,
    connectorId,
    paymentMethods: [...paymentMethods],
    lineItems: lineItems.map(({ name, quantity, amount: each }) => ({ name, quantity, amount: each })),
    returnUrl: returnUrlOf(context, sessionId) || request.successUrl,
    expiresAt: timestampFromDate(expiresAt),
  };
}
