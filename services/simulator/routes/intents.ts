// /api/intents: create, read, look up by reference, capture, cancel.
import type { FastifyInstance } from "fastify";
import { ApiFailure, badField, notFound } from "../failure.ts";
import { assertNoOutage, changeIntent, consequencesOf, wakeFor } from "../flows/change-intent.ts";
import { newIntent, type WantedIntent } from "../flows/new-intent.ts";
import { payByToken } from "../flows/pay-intent.ts";
import type { Processor } from "../processor.ts";
import { type Intent, type LineItem, type MethodType, methodTypes } from "../rules/intent.ts";
import { cancelIntent, captureIntent } from "../rules/pay-intent.ts";
import { insertIntent } from "../store/intent-writes.ts";
import { findIntent, findIntentsByReference } from "../store/intents.ts";
import { accountOf, answerApi, answerGet } from "./api-request.ts";
import { Fields } from "./fields.ts";
import { presentIntent } from "./intent-json.ts";

export const amountMax = 99_999_999_999; // far above any card limit, far below 2^53
export const referenceMax = 128;
/** Printable ASCII. */
export const referenceShape = /^[\x20-\x7e]+$/;
const descriptionMax = 500;
const urlMax = 2_048;
const linesMax = 100;
const renewalMax = 10_000;

export function intentRoutes(app: FastifyInstance, processor: Processor): void {
  const { db } = processor;
  const present = (intent: Intent) => presentIntent(intent, processor.publicUrl);

  app.post("/api/intents", (request, reply) => {
    const fields = new Fields(request.body);
    const wanted = readIntent(accountOf(request), fields);
    const method = fields.optionalText("payment_method", referenceMax);
    const references = async () => [wanted.reference];
    return answerApi(processor, request, reply, { target: "api.intents.create", references }, async (stamp) => {
      const intent = newIntent(wanted, processor.pageSeconds);
      const made = method === null ? { intent, events: [] } : await payByToken(processor, intent, method);
      const answer = { status: 201, body: present(made.intent) };
      const operation = stamp.operation({ id: intent.id, reference: intent.reference, intent: intent.id });
      const along = { key: stamp.key(answer), operation, ...consequencesOf(processor, intent, made) };
      await insertIntent(db, made.intent, along);
      wakeFor(processor, made);
      return { answer, isWritten: true };
    });
  });

  app.get("/api/intents", (request, reply) => {
    const reference = new Fields(request.query).text("reference", referenceMax);
    const account = accountOf(request);
    const call = { target: "api.intents.get", does: "list", references: async () => [reference] } as const;
    return answerGet(processor, request, reply, call, async (shownUntil) => {
      const found = await findIntentsByReference(db, account, reference);
      for (const intent of found) assertNoOutage(intent.outage_until);
      return { data: found.filter((intent) => isShown(intent, shownUntil)).map(present) };
    });
  });

  app.get<{ Params: { id: string } }>("/api/intents/:id", (request, reply) => {
    const { id } = request.params;
    const account = accountOf(request);
    const references = () => referencesOf(processor, id);
    return answerGet(processor, request, reply, { target: "api.intents.get", does: "look", references }, async () => {
      const intent = ownIntent(await findIntent(db, id), account);
      assertNoOutage(intent.outage_until);
      return present(intent);
    });
  });

  intentChanges(app, processor);
}

function intentChanges(app: FastifyInstance, processor: Processor): void {
  const present = (intent: Intent) => presentIntent(intent, processor.publicUrl);
  const changes = [
    ["capture", "api.intents.capture", (fields: Fields) => readCapture(fields)],
    ["cancel", "api.intents.cancel", (fields: Fields) => readCancel(fields)],
  ] as const;
  for (const [name, target, readDecision] of changes) {
    app.post<{ Params: { id: string } }>(`/api/intents/:id/${name}`, (request, reply) => {
      const { id } = request.params;
      const account = accountOf(request);
      const decide = readDecision(new Fields(request.body));
      const references = () => referencesOf(processor, id);
      return answerApi(processor, request, reply, { target, references }, async (stamp) => {
        const changed = (intent: Intent) => ({ status: 200, body: present(intent) });
        const { intent, refusal, change } = await changeIntent(
          processor,
          id,
          (found) => decide(ownIntent(found, account), new Date().toISOString()),
          {
            along: (next) => ({
              key: stamp.key(changed(next)),
              operation: stamp.operation({ id, reference: next.reference, intent: id }),
            }),
          },
        );
        if (!refusal) return { answer: changed(intent), isWritten: change !== null };
        const extra = { intent: present(intent) };
        const failure = new ApiFailure(400, "invalid_request", refusal.refused, refusal.message, extra);
        return { answer: { status: 400, body: failure.body }, isWritten: false };
      });
    });
  }
}

export function readCapture(fields: Fields) {
  const amount = fields.optionalInteger("amount", 1, amountMax);
  return (intent: Intent, now: string) => captureIntent(intent, amount, now);
}

function readCancel(fields: Fields) {
  const keepsAuthorized = fields.optionalOneOf("authorized", ["keep", "release"]) === "keep";
  return (intent: Intent, now: string) => cancelIntent(intent, now, keepsAuthorized);
}

/** False: a stale list does not show it yet. */
export function isShown(object: { readonly created_at: string }, shownUntil: Date | undefined): boolean {
  return shownUntil === undefined || Date.parse(object.created_at) <= shownUntil.getTime();
}

/** @throws ApiFailure 404 for a missing, lost or foreign intent */
export function ownIntent(intent: Intent | undefined, account: string): Intent {
  if (intent?.account !== account || intent.lost_at !== null) throw notFound("intent");
  return intent;
}

/** For the fault switches. */
export async function referencesOf(processor: Processor, intentId: string): Promise<string[]> {
  const intent = await findIntent(processor.db, intentId);
  return intent ? [intent.reference] : [];
}

function readIntent(account: string, fields: Fields): WantedIntent {
  const return_url = fields.optionalText("return_url", urlMax);
  if (return_url !== null && !(URL.canParse(return_url) && /^https?:$/.test(new URL(return_url).protocol)))
    throw badField("return_url", "must be an http or https URL");
  const amount = fields.integer("amount", 1, amountMax);
  return {
    account,
    reference: fields.text("reference", referenceMax, referenceShape),
    amount,
    currency: fields.text("currency", 3, /^[A-Za-z]{3}$/).toUpperCase(),
    description: fields.optionalText("description", descriptionMax),
    return_url,
    capture_method: fields.optionalOneOf("capture_method", ["automatic", "manual"]) ?? "automatic",
    line_items: readLines(fields, amount),
    renewal: fields.optionalInteger("renewal", 1, renewalMax),
    payment_methods: readMethods(fields),
  };
}

/** @throws ApiFailure for an unknown method, and for one that cannot be captured later */
function readMethods(fields: Fields): readonly MethodType[] | null {
  const { payment_methods: names, capture_method: capture } = fields.members;
  if (names === undefined || names === null) return null;
  const known = methodTypes.filter((type) => Array.isArray(names) && names.includes(type));
  if (!Array.isArray(names) || known.length === 0 || known.length !== names.length)
    throw badField("payment_methods", `must be a list of ${methodTypes.join(", ")}`);
  if (capture === "manual" && known.some((type) => type !== "card"))
    throw badField("payment_methods", "only card payments can be captured later");
  return known;
}

/** @throws ApiFailure if the lines do not sum to the amount */
function readLines(fields: Fields, amount: number): readonly LineItem[] | null {
  const lines = fields.optionalList("line_items", linesMax)?.map((line) => ({
    name: line.text("name", descriptionMax),
    quantity: line.integer("quantity", 1, amountMax),
    amount: line.integer("amount", -amountMax, amountMax),
  }));
  if (lines && lines.reduce((sum, line) => sum + line.amount, 0) !== amount) {
    throw badField("line_items", "must sum to amount");
  }
  return lines ?? null;
}
