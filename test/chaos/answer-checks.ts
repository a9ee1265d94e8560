// What the public API answers about a run's money, against the processor's word and against the rows: each payment as
// GET reads it, and the totals of lists by status and by amount. Asked once the books agree.
import type { MoneyRig } from "./money-rig.ts";
import { type OurPayment, ourPayments, rowCounts } from "./money-truth.ts";
import { answerDifferences } from "./payment-checks.ts";
import { type ProcessorTruth, processorTruth } from "./processor-truth.ts";

/** Requests at once; below the rate limit of a sandbox key's burst, which the test stack switches off. */
const atOnceMax = 8;
/** Reading more than this takes longer than it proves. */
const readMax = 3_000;

export async function answeredDifferences(rig: MoneyRig): Promise<string[]> {
  const [ours, theirs] = [await ourPayments(rig), await processorTruth(rig)];
  return [...(await readDifferences(rig, ours, theirs)), ...(await totalDifferences(rig, [...ours.values()]))];
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
      const intents = theirs.intents.get(payment.id) ?? [];
      const own = intents.find(({ id }) => id === payment.ref) ?? intents[0];
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
