// A merchant that answers disputes: with evidence, with or without a file, by conceding, or both at once. At the end of
// a run pending answers have ended, sent and conceded ones are unchanged, and each key has one answer.
import { membersOf } from "#platform/values/unchecked.ts";
import { pngFile } from "../harness/files/sample-files.ts";
import type { MoneyRig } from "./money-rig.ts";
import { untilAnswered } from "./persistent-client.ts";
import type { AnsweredDispute, Seen } from "./seen.ts";
import { atOnce, isRefusedByOperator, type Paying, type Story } from "./story.ts";

/** Answers one of the payment's open disputes, if its merchant knows one. */
export async function answerDispute(story: Story, payment: Paying): Promise<void> {
  const { shop, random, seen, patience } = story;
  seen.count();
  const path = `/v1/disputes?payment_id=${payment.paymentId}&limit=5`;
  // The processor's webhook may be on its way.
  let open: string | undefined;
  for (let polls = 0; polls < 5 && open === undefined; polls++) {
    const list = await untilAnswered(() => shop.api.get(path), patience, "listing disputes");
    if (list?.status === 404) return;
    if (list && list.status !== 200) return seen.offence(story.name, `listing disputes answered ${list}`);
    const waiting = (list?.list("data") ?? [])
      .map(membersOf)
      .find(({ status }) => String(status).endsWith("needs_response"));
    open = waiting && String(waiting.id);
  }
  if (open === undefined) return;
  const kinds = random.pick([
    [["evidence"], 5],
    [["accept"], 3],
    [["evidence", "accept"], 2],
  ] as const);
  const id = open;
  await Promise.all(kinds.map((kind) => (kind === "accept" ? accept(story, payment, id) : submit(story, payment, id))));
}

async function submit(story: Story, payment: Paying, id: string): Promise<void> {
  const { shop, random, patience } = story;
  const text = random.pick([
    ["winning_evidence", 2],
    ["losing_evidence", 1],
    ["It was delivered.", 2],
  ] as const);
  const body: Record<string, string> = { uncategorized_text: text };
  if (random.chance(0.4)) {
    const upload = () => shop.api.post(`/v1/disputes/${id}/files`, pngFile(), { "content-type": "image/png" });
    const file = await untilAnswered(upload, patience, "uploading");
    if (file?.status === 201) body.receipt_file = file.text("id");
  }
  await answer(story, payment, { id, kind: "evidence", answers: [] }, body);
}

async function accept(story: Story, payment: Paying, id: string): Promise<void> {
  await answer(story, payment, { id, kind: "accept", answers: [] }, {});
}

/** Under one key until it is answered, sometimes twice at once. */
async function answer(story: Story, payment: Paying, submission: AnsweredDispute, body: object): Promise<void> {
  const { shop, random, seen, name, patience } = story;
  const { id, kind, answers } = submission;
  const headers = { "idempotency-key": `${kind}-${id}-${name}` };
  (payment.answeredDisputes ??= []).push(submission);
  await atOnce(random.chance(0.3) ? 2 : 1, async () => {
    seen.count();
    const reply = await untilAnswered(() => shop.api.post(`/v1/disputes/${id}/${kind}`, body, headers), patience, kind);
    if (reply?.status === 200) answers.push(reply);
    // Decided, answered or conceded meanwhile.
    else if (reply && ![409, 422, 502, 503].includes(reply.status) && !isRefusedByOperator(story, reply))
      seen.offence(name, `${kind} answered ${reply}`);
  });
}

/** Compares the answers that clients got with the present state. */
export async function disputeDifferences({ merchant }: MoneyRig, seen: Seen): Promise<string[]> {
  const found: string[] = [];
  for (const payment of seen.payments.values()) {
    for (const submission of payment.answeredDisputes ?? []) {
      const now = (await merchant.get(`/v1/disputes/${submission.id}`)).expect(200);
      const of = `${payment.paymentId} (${payment.story}): dispute ${submission.id}`;
      const [first] = submission.answers;
      if (submission.answers.some((one) => one.raw !== first?.raw)) found.push(`${of}: one key has two answers`);
      const [evidence, acceptance, status] = [now.at("evidence.status"), now.at("acceptance"), now.at("status")];
      if (evidence === "pending" || acceptance === "pending") found.push(`${of}: an answer is pending still`);
      // A decision can be overturned.
      if (acceptance === "accepted" && status !== "lost" && status !== "won")
        found.push(`${of}: accepted, and it is ${status}`);
      const reported = submission.kind === "evidence" ? first?.at("evidence.status") : first?.at("acceptance");
      const isConfirmed = submission.kind === "evidence" ? evidence === "submitted" : acceptance === "accepted";
      if ((reported === "submitted" || reported === "accepted") && !isConfirmed)
        found.push(`${of}: reported ${reported}, it is not`);
    }
  }
  return found;
}
