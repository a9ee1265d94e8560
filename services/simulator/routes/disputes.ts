// /api/disputes: read, submit evidence, accept.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiFailure, badField, notFound } from "../failure.ts";
import { assertNoOutage, changeIntent } from "../flows/change-intent.ts";
import type { Processor } from "../processor.ts";
import { acceptDispute, submitEvidence } from "../rules/dispute.ts";
import type { Change, Evidence, Intent, Refusal } from "../rules/intent.ts";
import { findFiles } from "../store/evidence-files.ts";
import { findIntent, intentIdOf } from "../store/intents.ts";
import { accountOf, answerApi, answerGet } from "./api-request.ts";
import { Fields } from "./fields.ts";
import { presentDispute } from "./intent-json.ts";
import { ownIntent, referenceMax, referenceShape, referencesOf } from "./intents.ts";
import type { IdPath } from "./test-actions.ts";

const textMax = 20_000;
const membersMax = 40;
const bodyBytesMax = 256 * 1_024; // texts of 64 KiB, written out as JSON

export function disputeRoutes(app: FastifyInstance, processor: Processor): void {
  app.get<IdPath>("/api/disputes/:id", (request, reply) => {
    const call = { target: "api.disputes.get", does: "look", references: () => namesOf(processor, request) } as const;
    return answerGet(processor, request, reply, call, async () => {
      const intent = await disputedIntent(processor, request);
      assertNoOutage(intent.outage_until);
      return disputeIn(intent, request.params.id);
    });
  });

  app.post<IdPath>("/api/disputes/:id/evidence", { bodyLimit: bodyBytesMax }, async (request, reply) => {
    const fields = new Fields(request.body);
    const reference = fields.text("reference", referenceMax, referenceShape);
    const evidence = readEvidence(fields);
    await assertFiles(processor, accountOf(request), evidence);
    const now = new Date().toISOString();
    return await change(processor, request, reply, "api.disputes.evidence", reference, (intent, id) =>
      submitEvidence(intent, id, { reference, evidence, now }),
    );
  });

  app.post<IdPath>("/api/disputes/:id/accept", (request, reply) =>
    change(processor, request, reply, "api.disputes.accept", null, (intent, id) =>
      acceptDispute(intent, id, new Date().toISOString()),
    ),
  );
}

function change(
  processor: Processor,
  request: FastifyRequest<IdPath>,
  reply: FastifyReply,
  target: "api.disputes.evidence" | "api.disputes.accept",
  reference: string | null,
  rule: (intent: Intent, disputeId: string) => Change | Refusal | null,
): Promise<FastifyReply> {
  const { id } = request.params;
  const references = async () => [...(reference ? [reference] : []), ...(await namesOf(processor, request))];
  return answerApi(processor, request, reply, { target, references }, async (stamp) => {
    const { id: intentId } = await disputedIntent(processor, request);
    const answered = (intent: Intent) => ({ status: 200, body: disputeIn(intent, id) });
    const { intent, refusal, change } = await changeIntent(
      processor,
      intentId,
      (found) => rule(ownIntent(found, accountOf(request)), id),
      {
        along: (next) => ({
          key: stamp.key(answered(next)),
          operation: stamp.operation({ id, reference, intent: intentId }),
        }),
      },
    );
    if (!refusal) return { answer: answered(intent), isWritten: change !== null };
    const failure = new ApiFailure(400, "invalid_request", refusal.refused, refusal.message);
    return { answer: { status: 400, body: failure.body }, isWritten: false };
  });
}

/** Texts and file ids under the caller's own names. */
function readEvidence(fields: Fields): Evidence {
  const names = Object.keys(fields.members).filter((name) => name !== "reference");
  if (names.length === 0 || names.length > membersMax)
    throw badField("evidence", `must have 1 to ${membersMax} members`);
  return Object.fromEntries(names.map((name) => [name, fields.text(name, textMax)]));
}

/** @throws ApiFailure 400 for a file of another account */
async function assertFiles(processor: Processor, account: string, evidence: Evidence): Promise<void> {
  const ids = Object.entries(evidence).flatMap(([name, id]) => (name.endsWith("_file") ? [id] : []));
  const known = await findFiles(processor.db, account, ids);
  if (ids.every((id) => known.has(id))) return;
  throw new ApiFailure(400, "invalid_request", "evidence_not_accepted", "There is no such file.");
}

/** @throws ApiFailure 404 */
async function disputedIntent(processor: Processor, request: FastifyRequest<IdPath>): Promise<Intent> {
  const intentId = await intentIdOf(processor.db, "disputes", request.params.id);
  if (intentId === undefined) throw notFound("dispute");
  return ownIntent(await findIntent(processor.db, intentId), accountOf(request));
}

/** For the fault switches. */
async function namesOf(processor: Processor, { params }: FastifyRequest<IdPath>): Promise<string[]> {
  const intentId = await intentIdOf(processor.db, "disputes", params.id);
  return intentId === undefined ? [] : await referencesOf(processor, intentId);
}

function disputeIn(intent: Intent, id: string) {
  const dispute = intent.disputes.find((one) => one.id === id);
  if (!dispute) throw notFound("dispute");
  return { ...presentDispute(dispute), intent: intent.id };
}
