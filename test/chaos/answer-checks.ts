// Compares the public API's answers about a run's money with the processor's objects and with the database: each
// payment by GET, in a list, in the console's export and in its session, and the totals of lists. Runs once the books
// agree.
import { connectPeer } from "#platform/rpc/client.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { paymentFile } from "../../gateway/console/screens/money/payments/export.ts";
import { fileLines } from "../../gateway/console/session/download.ts";
import type { MoneyRig } from "./money-rig.ts";
import { type OurPayment, ourPayments, rowCounts } from "./money-truth.ts";
import { answerDifferences, expectedAnswer, fieldDifferences } from "./payment-checks.ts";
import { type ProcessorTruth, processorTruth } from "./processor-truth.ts";

/** Requests at once; below the rate limit of a sandbox key's burst, which the test stack switches off. */
const atOnceMax = 8;
/** Reading more than this takes longer than it proves. */
const readMax = 3_000;

export async function answeredDifferences(rig: MoneyRig): Promise<string[]> {
  const [ours, theirs] = [await ourPayments(rig), await processorTruth(rig)];
  const must = new Map([...ours.values()].map((one) => [one.id, expectedAnswer(one, ownIntent(one, theirs))] as const));
  return [
    ...(await readDifferences(rig, ours, theirs)),
    ...(await itemDifferences(rig, must)),
    ...(await sessionDifferences(rig, must)),
    ...(await fileDifferences(rig, [...ours.values()], must)),
    ...(await totalDifferences(rig, [...ours.values()])),
  ];
}

/** Expected values by payment id; undefined: the payment's intent is another one. */
type Must = ReadonlyMap<string, ReturnType<typeof expectedAnswer>>;

function ownIntent(payment: OurPayment, { intents }: ProcessorTruth) {
  const named = intents.get(payment.id) ?? [];
  return named.find(({ id }) => id === payment.ref) ?? named[0];
}

const pageSize = 200;

/** All rows of a list, page by page. */
async function* rowsOf({ merchant }: MoneyRig, path: string): AsyncGenerator<Record<string, unknown>> {
  for (let after = ""; ; ) {
    const page = (await merchant.get(`${path}?limit=${pageSize}${after && `&after=${after}`}`)).expect(200);
    const rows = page.list("data") as Record<string, unknown>[];
    yield* rows;
    if (page.at("has_more") !== true) return;
    after = String(rows.at(-1)?.id);
  }
}

/** A list's item equals the payment, without its net. */
async function itemDifferences(rig: MoneyRig, must: Must): Promise<string[]> {
  const found: string[] = [];
  for await (const item of rowsOf(rig, "/v1/payments")) {
    const { net_amount: _, ...expected } = must.get(String(item.id)) ?? { net_amount: 0 };
    found.push(...fieldDifferences("listed", expected, (field) => item[field]).map((one) => `${item.id}: ${one}`));
  }
  return found;
}

/** A completed session has its payment's status; each session has the amount and currency of its payment. */
async function sessionDifferences(rig: MoneyRig, must: Must): Promise<string[]> {
  const found: string[] = [];
  for await (const session of rowsOf(rig, "/v1/checkout-sessions")) {
    const id = String(session.id).replace("cs_", "pay_");
    const paid = must.get(id);
    if (!paid) continue;
    const { amount, currency, status: payment_status, captured_amount } = paid;
    const expected = { amount, currency, ...(session.status === "completed" && { payment_status, captured_amount }) };
    const differences = fieldDifferences("in its session", expected, (field) => session[field]);
    found.push(...differences.map((one) => `${id}: ${one}`));
  }
  return found;
}

/** Decimals of the currencies that runs use and that have not two. */
const decimals: Readonly<Record<string, number>> = { JPY: 0, KRW: 0, KWD: 3, BHD: 3 };

/** The console's file of all payments, as a spreadsheet reads it. */
async function fileDifferences({ running, merchantId }: MoneyRig, ours: OurPayment[], must: Must): Promise<string[]> {
  const environment = ours[0]?.environment;
  if (environment === undefined) return [];
  const peer = connectPeer({ url: running.stack.rpc.payments, token: running.stack.rpc_token });
  const pageAfter = (afterId: string) =>
    peer
      .client(PaymentsService)
      .listPayments({ merchantId, environment, limit: pageSize, afterId, withoutTotal: true });
  const lines: string[] = [];
  try {
    for await (const some of fileLines(paymentFile, await pageAfter(""), pageAfter)) lines.push(...some.split("\r\n"));
  } finally {
    peer.close();
  }
  const [head = "", ...rest] = lines.filter((line) => line !== "");
  const names = head.replace("\ufeff", "").split(",");
  const found: string[] = [];
  for (const line of rest) {
    const cells = new Map(line.split(",").map((cell, i) => [names[i], cell]));
    const id = String(cells.get("id"));
    const paid = must.get(id);
    if (!paid) continue;
    const { net_amount: _, status, ...money } = paid;
    const cellValue = (field: string) => {
      const cell = cells.get(field) ?? "";
      return field === "currency" || cell === ""
        ? cell
        : Math.round(Number(cell) * 10 ** (decimals[paid.currency] ?? 2));
    };
    const differences = fieldDifferences("in the file", money, cellValue);
    const isOpen = cells.get("status") === "authorized" && status === "succeeded" && money.captured_amount === 0;
    if (!isOpen) differences.push(...fieldDifferences("in the file", { status }, (field) => cells.get(field)));
    found.push(...differences.map((one) => `${id}: ${one}`));
  }
  return found;
}

/** Every payment; of a very long run an even part of them. */
async function readDifferences(
  { merchant }: MoneyRig,
  ours: ReadonlyMap<string, OurPayment>,
  theirs: ProcessorTruth,
): Promise<string[]> {
  const step = Math.ceil(ours.size / readMax);
  const left = [...ours.values()].filter((_, i) => i % Math.max(1, step) === 0);
  const found: string[] = [];
  const reader = async () => {
    for (let payment = left.pop(); payment; payment = left.pop()) {
      const own = ownIntent(payment, theirs);
      const answer = await merchant.get(`/v1/payments/${payment.id}`);
      found.push(...answerDifferences(payment, own, answer).map((one) => `${payment.id}: ${one}`));
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, reader));
  return found;
}

const statuses = ["", "pending", "requires_action", "processing", "succeeded", "failed", "canceled"];
const movedStatuses = ["partially_refunded", "refunded", "disputed"];

/** The totals that lists answer are the numbers of rows. */
async function totalDifferences(rig: MoneyRig, ours: readonly OurPayment[]): Promise<string[]> {
  const environment = ours[0]?.environment;
  if (environment === undefined) return [];
  const found: string[] = [];
  const expect = async (path: string, must: number) => {
    const answer = (await rig.merchant.get(path)).expect(200);
    if (answer.at("total") !== must) found.push(`GET ${path}: total ${answer.at("total")}, there are ${must} rows`);
  };
  const payments = (await rowCounts(rig, "payments")).get(environment);
  for (const status of [...statuses, ...movedStatuses]) {
    await expect(`/v1/payments?limit=1${status && `&status=${status}`}`, payments?.get(status) ?? 0);
  }
  const refunds = (await rowCounts(rig, "refunds")).get(environment);
  await expect("/v1/refunds?limit=1", refunds?.get("") ?? 0);
  const visible = ours.filter((payment) => payment.visible && payment.environment === environment);
  const middle = visible.map(({ amount }) => amount).sort((a, b) => a - b)[visible.length >> 1] ?? 1;
  const [low, high] = [Math.ceil(middle / 2), middle];
  const between = visible.filter(({ amount }) => amount >= low && amount <= high).length;
  await expect(`/v1/payments?limit=1&min_amount=${low}&max_amount=${high}`, between);
  return found;
}
