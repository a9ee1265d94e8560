// The process dies exactly after each phase of each flow, once; its successor and the retrying callers bring everything
// to its end, and all the books agree. One story passes through many places, so that one stack serves all of them.
// `npm test` plays the story whose places lie behind what the processor has done, where money could be lost or doubled;
// `npm run prove -- crash-points` plays all.
import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { finalDifferences } from "../chaos/money-checks.ts";
import { type MoneyRig, startMoneyRig } from "../chaos/money-rig.ts";
import { untilAnswered } from "../chaos/persistent-client.ts";
import { Seen, type SeenPayment } from "../chaos/seen.ts";
import { addAccount } from "../contract/operator.ts";
import { eventually } from "../harness/eventually.ts";
import { pngFile } from "../harness/files/sample-files.ts";
import { cardToken, payInFrame } from "../harness/pay.ts";
import { processOf, shapeOfRun } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("crash points", { timeoutMs: 300_000 });
const patience = { limitMs: 60_000, pauseMs: 100 };
const seen = new Seen();
const shape = shapeOfRun();
/** In one process a crash ends the steps of all parts, and a story may miss its point: it is repeated then. */
const roundsMax = shape === "one" ? 4 : 1;
let storiesPlayed = 0;
let dir = "";
let rig: MoneyRig;

test.before(async () => {
  dir = await tempDir("crash-points");
  await chmod(dir, 0o777);
  rig = await startMoneyRig({
    shape,
    env: {
      CRASH_POINT_DIR: dir,
      NODE_ENV: "test",
      IDEMPOTENCY_LEASE_SECONDS: "1",
      RECONCILE_AFTER_SECONDS: "1",
      // So near their end that checkout asks each time whether they live.
      SIMULATOR_PAGE_SECONDS: "240",
    },
  });
  await addAccount(rig.running.stack, { id: rig.merchantId });
  const on_decline = { codes: ["processing_error"], next: true };
  const routing = { rules: [], on_outage: "stop", on_decline, version: 0 };
  (await rig.merchant.put("/v1/merchants/me/routing", routing)).expect(200);
});
test.after(async () => {
  await rig.stop();
  await rm(dir, { recursive: true, force: true });
});

const services = ["checkout", "payments", "merchant", "webhook"] as const;
/** Every place where a process can be made to die, by its name, with its service. */
const crashPoints = new Map(
  services.flatMap((service) =>
    globSync(`services/${service}/**/*.ts`, { cwd: root }).flatMap((path) =>
      [...readFileSync(join(root, path), "utf8").matchAll(/\bcrashPoint\("([^"]+)"\)/g)].map(
        ([, point = ""]) => [point, service] as const,
      ),
    ),
  ),
);

const behindTheProcessor = 2; // the place of that story in the list
/**
 * Each story passes these places: a payment by token, which is disputed twice, then a session that is paid and
 * refunded, one that is expired, and two that are authorized, of which one is captured in part and one canceled.
 */
const allStories: readonly (readonly string[])[] = [
  [
    "create-payment.3-paid",
    "create-session.1-claimed",
    "create-intent.1-account-chosen",
    "renew-intent.2-asked",
    "reroute-intent.1-chosen",
    "verify-intent.2-asked",
    "confirm-session.2-asked",
    "refund-payment.1-claimed",
    "submit-evidence.1-claimed",
    "submit-evidence.3-uploaded",
    "accept-dispute.1-claimed",
    "capture-payment.1-claimed",
    "cancel-payment.1-claimed",
    "receive-event.1-account-found",
    "cancel-intent.1-read",
    "expire-session.1-remembered",
  ],
  [
    "create-payment.4-settled",
    "create-session.2-screened",
    "create-intent.2-rows-written",
    "renew-intent.3-row-written",
    "reroute-intent.2-noted",
    "verify-intent.3-settled",
    "confirm-session.3-applied",
    "refund-payment.2-reserved",
    "submit-evidence.2-reserved",
    "accept-dispute.2-noted",
    "capture-payment.2-reserved",
    "cancel-payment.2-reserved",
    "receive-event.2-verified",
    "cancel-intent.2-canceled",
    "expire-session.2-asked",
  ],
  [
    "create-payment.2-rows-written",
    "create-payment.5-answered",
    "create-session.3-intent-made",
    "create-intent.3-made",
    "renew-intent.4-made",
    "reroute-intent.3-ended",
    "renew-render.1-asked",
    "settle-payment.before-commit",
    "follow-payments.1-consumed",
    "refund-payment.3-made",
    "submit-evidence.4-sent",
    "accept-dispute.3-asked",
    "capture-payment.3-made",
    "cancel-payment.3-canceled",
    "receive-event.4-settled",
    "cancel-intent.3-settled",
    "expire-session.3-applied",
  ],
  [
    "create-session.4-stored",
    "create-intent.4-recorded",
    "renew-intent.5-recorded",
    "make-at-processor.1-in-doubt",
    "receive-event.3-asked",
    "reconcile.1-claimed",
    "refund-payment.4-settled",
    "submit-evidence.5-settled",
    "accept-dispute.4-settled",
    "capture-payment.4-settled",
    "cancel-payment.4-settled",
  ],
];

const stories =
  process.env.CRASH_STORIES === "all" ? allStories : allStories.slice(behindTheProcessor, behindTheProcessor + 1);

test("every place is passed by a story", () => {
  assert.deepEqual(allStories.flat().sort(), [...crashPoints.keys()].sort());
});

for (const [index, points] of stories.entries()) {
  test(`a crash at ${points.join(", ")} loses and doubles nothing`, async () => {
    const armed = new Set<string>();
    const arm = (isNow: (point: string) => boolean) => {
      for (const point of points.filter(isNow)) {
        writeFileSync(join(dir, point), "");
        armed.add(point);
      }
    };
    const watching = new AbortController();
    const revived = reviveCrashed(armed, watching.signal);
    try {
      // In two steps: after a crash during the processor's event, that event would settle the payment by token, and the
      // last phases of the flow would not run.
      const isOfToken = (point: string) => point.startsWith("create-payment.");
      arm(isOfToken);
      for (let round = 1; ; round++) {
        const name = `story-${index}-${round}`;
        await payByToken(`${name}-token`);
        if (round === 1) arm((point) => !isOfToken(point));
        await answerDisputes(name);
        await play(name);
        storiesPlayed += 1;
        const isLast = round === roundsMax;
        const allPassed = () => {
          assert.deepEqual(readdirSync(dir), []);
          return true;
        };
        const passed = eventually("every place to be passed", allPassed, { limitMs: isLast ? 60_000 : 10_000 });
        if (isLast) return await passed;
        if (await passed.catch(() => false)) return;
      }
    } finally {
      for (const left of readdirSync(dir)) await rm(join(dir, left), { force: true });
      watching.abort();
      await revived;
    }
  });
}

test("afterwards the processor, our books, the events and the clients agree", async () => {
  // Looks come ever later: on a slow machine the one that proves an operation's absence is minutes away.
  const lookNow = "update operations set next_try_at = now(), tries = 1 where state = 'started' returning id";
  const hasEnded = async () => (await rig.books.payments.rows(lookNow)).length === 0;
  await eventually("every operation to end", hasEnded, { limitMs: 200_000, everyMs: 5_000 });
  assert.deepEqual(await finalDifferences(rig, seen, { limitMs: 200_000 }), []);
  assert.equal(seen.payments.size, 6 * storiesPlayed);
});

/** The supervisor waits ever longer between restarts; a test that crashes on purpose does not want to. */
async function reviveCrashed(armed: Set<string>, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    const left = new Set<string>(readdirSync(dir));
    const dead = new Set<string>();
    for (const point of armed) {
      if (left.has(point)) continue;
      armed.delete(point);
      const service = crashPoints.get(point);
      if (service) dead.add(processOf(shape, service));
    }
    await Promise.all([...dead].map(revive));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Again where it dies while it starts: its jobs pass places, too, and in one process those of all parts. */
async function revive(name: string): Promise<void> {
  for (let triesLeft = crashPoints.size; ; triesLeft--) {
    try {
      return await rig.running.restart(name);
    } catch (error) {
      if (triesLeft === 0 || !String(error).includes("SIGKILL")) throw error;
    }
  }
}

async function play(name: string): Promise<void> {
  const [paid, unpaid] = [await buy(`${name}-paid`, decline), await create(`${name}-unpaid`)];
  await refund(paid, `${name}-refund`);
  await leaveInDoubt(paid.paymentId);
  await refund(paid, `${name}-doubtful-refund`);
  const [captured, canceled] = [await create(`${name}-held`, held), await create(`${name}-given-up`, held)];
  await Promise.all([complete(captured), complete(canceled)]);
  await capture(captured, `${name}-capture`);
  await cancel(canceled, `${name}-cancel`);
  const expire = () => rig.merchant.post(`/v1/checkout-sessions/${unpaid.sessionId}/expire`);
  assert.equal((await untilAnswered(expire, patience))?.at("status"), "expired");
}

type PagedPayment = SeenPayment & { frameUrl: string; resolvePath: string };

/** A session that is paid and confirmed. @param before what happens first */
async function buy(
  key: string,
  before: (payment: PagedPayment) => Promise<void> = async () => {},
): Promise<SeenPayment> {
  const paid = await create(key);
  await renewPage(paid);
  await before(paid);
  await complete(paid);
  return paid;
}

/** The page that the buyer was given has ended; another one takes its place. */
async function renewPage(payment: PagedPayment): Promise<void> {
  (await rig.processor.post(`/test/intents/${payment.intentId}/end-page`)).expect(200);
  await openNextPage(payment);
}

/** The card is declined, and the payment moves to the merchant's other account. */
async function decline(payment: PagedPayment): Promise<void> {
  await untilAnswered(() => payInFrame(payment.frameUrl, "4000000000000119"), patience);
  await untilAnswered(() => rig.buyer.post(payment.resolvePath.replace("?", "/confirm?")), patience);
  await openNextPage(payment);
}

async function openNextPage(payment: PagedPayment): Promise<void> {
  const old = payment.frameUrl;
  await eventually(
    "another page",
    async () => {
      const answer = await rig.buyer.get(payment.resolvePath);
      const url = answer.status === 200 ? answer.at("render.frame_url") : undefined;
      if (typeof url === "string") payment.frameUrl = url;
      return payment.frameUrl !== old;
    },
    { limitMs: patience.limitMs, everyMs: 100 },
  );
  payment.intentId = intentOf(payment.frameUrl);
}

function intentOf(frameUrl: string): string {
  return new URL(frameUrl).pathname.split("/").at(-1) ?? "";
}

/** A payment without a session, asked for under one key until it is answered. */
async function payByToken(key: string): Promise<void> {
  const token = await cardToken(rig.running.stack.processor, rig.account);
  const order = { amount: 700, currency: "EUR", payment_method: token };
  const ask = () => rig.merchant.post("/v1/payments", order, { "idempotency-key": key });
  seen.creations += 1;
  const answer = await untilAnswered(ask, patience);
  assert.equal(answer?.status, 201, String(answer));
  const known = { amount: 700, currency: "EUR", refunds: [], story: key, sessionId: "", reportedExpired: false };
  const intentId = String(answer.at("connector_ref") ?? "");
  // A slow machine may be away for longer than this rig's keys are sent again: then the payment is pending, and ends as
  // never made.
  const isPaid = answer.text("status") === "succeeded";
  seen.payments.set(answer.text("id"), {
    ...known,
    paymentId: answer.text("id"),
    intentId,
    reportedPaid: isPaid,
    knownPaid: isPaid,
  });
}

/** Of a payment that is disputed twice, one dispute is answered with a file and the other conceded. */
async function answerDisputes(name: string): Promise<void> {
  const { paymentId, intentId } = await buy(`${name}-disputed`);
  for (const amount of [100, 200]) {
    const made = () => rig.processor.post(`/test/intents/${intentId}/disputes`, { amount });
    assert.equal((await untilAnswered(made, patience))?.status, 201);
  }
  const open = await eventually(
    "both disputes",
    async () => {
      const list = await rig.merchant.get(`/v1/disputes?payment_id=${paymentId}&status=needs_response`);
      return list.status === 200 && list.list("data").length === 2 && list.list("data").map(membersOf);
    },
    // Another reader takes over a dead process's events after two minutes.
    { limitMs: 150_000, everyMs: 100 },
  );
  const [first, second] = open.map(({ id }) => String(id));
  await submitEvidence(`/v1/disputes/${first}`, name);
  const accept = () => rig.merchant.post(`/v1/disputes/${second}/accept`, {}, { "idempotency-key": `${name}-accept` });
  assert.equal((await untilAnswered(accept, patience))?.status, 200);
  const isLost = async () => {
    const dispute = await rig.merchant.get(`/v1/disputes/${second}`);
    return dispute.at("acceptance") === "accepted" && dispute.at("status") === "lost";
  };
  await eventually("the dispute to be lost", isLost, { limitMs: patience.limitMs, everyMs: 200 });
}

/**
 * Repeats with one key until it is answered and has ended. On a slow machine the restart may outlast the time in which
 * this rig resends keys: then the evidence was not submitted, and is sent with a new one.
 */
async function submitEvidence(path: string, name: string): Promise<void> {
  const upload = () => rig.merchant.post(`${path}/files`, pngFile(), { "content-type": "image/png" });
  const file = (await untilAnswered(upload, patience))?.expect(201).text("id");
  const evidence = { uncategorized_text: "It was delivered.", receipt_file: file };
  for (let attempt = 1; ; attempt++) {
    const key = { "idempotency-key": `${name}-evidence-${attempt}` };
    const answer = await untilAnswered(() => rig.merchant.post(`${path}/evidence`, evidence, key), patience);
    assert.equal(answer?.status, 200, String(answer));
    const ended = await eventually(
      "the evidence to be submitted or not",
      async () => {
        const dispute = await rig.merchant.get(path);
        return dispute.status === 200 && dispute.at("evidence.status") !== "pending" && dispute;
      },
      { limitMs: patience.limitMs, everyMs: 200 },
    );
    if (ended.at("evidence.status") === "submitted") return assert.equal(ended.at("status"), "under_review");
    assert.equal(answer.at("evidence.status"), "pending", "an answer of submitted is final");
    assert.equal(ended.at("status"), "needs_response");
  }
}

/** The next refund is done without an answer, and reads fail for a while: the reconcile job has to find it. */
async function leaveInDoubt(paymentId: string): Promise<void> {
  for (const fault of [
    { target: "api.refunds.create", kind: "hang_after", count: 1 },
    { target: "api.refunds.get", kind: "error_before", count: 2 },
    { target: "webhooks", kind: "hold", reference: paymentId },
  ]) {
    (await rig.processor.put("/test/faults", fault)).expect(201);
  }
}

const held = { capture_method: "manual" };

type CreatedSession = SeenPayment & { frameUrl: string; confirmPath: string; resolvePath: string };

/** The buyer pays, and comes back. */
async function complete(payment: CreatedSession): Promise<void> {
  await eventually("the buyer to pay", async () => (await payInFrame(payment.frameUrl)).status === 200);
  await eventually(
    "the session to complete",
    async () => (await rig.buyer.post(payment.confirmPath)).at("status") === "completed",
    { limitMs: patience.limitMs, everyMs: 100 },
  );
  payment.reportedPaid = true;
}

/**
 * A capture without an answer from the processor returns the payment as it is, and continues. On a slow machine it may
 * end as never made, like a payment by token.
 */
async function capture(payment: CreatedSession, key: string): Promise<void> {
  const path = `/v1/payments/${payment.paymentId}/capture`;
  const ask = () => rig.merchant.post(path, { amount: 400 }, { "idempotency-key": key });
  const answer = await untilAnswered(ask, patience);
  assert.equal(answer?.status, 200, String(answer));
  const captured = answer.at("captured_amount");
  if (captured !== 0) payment.reportedCaptured = Number(captured);
}

async function cancel(payment: CreatedSession, key: string): Promise<void> {
  const ask = () => rig.merchant.post(`/v1/payments/${payment.paymentId}/cancel`, {}, { "idempotency-key": key });
  const answer = await untilAnswered(ask, patience);
  assert.equal(answer?.status, 200, String(answer));
  payment.reportedCanceled = answer.at("status") === "canceled";
}

async function create(key: string, members: object = {}): Promise<CreatedSession> {
  const order = { amount: 1_000, currency: "EUR", ...members };
  const ask = () => rig.merchant.post("/v1/checkout-sessions", order, { "idempotency-key": key });
  seen.creations += 1;
  const answer = await untilAnswered(ask, patience);
  assert.equal(answer?.status, 201, String(answer));
  const sessionId = answer.text("id");
  const frameUrl = answer.text("render.frame_url");
  const payment = {
    paymentId: `pay_${sessionId.slice(3)}`,
    sessionId,
    intentId: intentOf(frameUrl),
    amount: 1_000,
    currency: "EUR",
    reportedPaid: false,
    knownPaid: false,
    reportedExpired: false,
    refunds: [],
    story: key,
    frameUrl,
    resolvePath: `/v1/checkout/${sessionId}?secret=${answer.text("session_secret")}`,
    confirmPath: `/v1/checkout/${sessionId}/confirm?secret=${answer.text("session_secret")}`,
  };
  seen.payments.set(payment.paymentId, payment);
  return payment;
}

async function refund(payment: SeenPayment, key: string): Promise<void> {
  const ask = () =>
    rig.merchant.post(`/v1/payments/${payment.paymentId}/refunds`, { amount: 300 }, { "idempotency-key": key });
  const answer = await untilAnswered(ask, patience);
  assert.equal(answer?.status, 201, String(answer));
  payment.refunds.push({ key, answers: [answer] });
}

test.run();
