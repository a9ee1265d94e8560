// The books equal the processor's money: drawn histories of one intent or two are reported in any order, repeated and
// stale, the newest last, as by the reconcile job. The model (true-intent.ts) knows nothing of the rules. A debit is
// returned after a refund only in histories of one intent, and never after a dispute: then more is returned than was
// captured, which the books of unexpected funds do not show yet.
import assert from "node:assert/strict";
import { heldIn } from "../../services/payments/rules/unexpected-funds.ts";
import { Random } from "../chaos/random.ts";
import { suite } from "../harness/suite.ts";
import { FoldedBooks } from "./folded-books.ts";
import { TrueIntent, type World } from "./true-intent.ts";

const test = suite("true histories");
const amount = 1_000n;
/** TRUE_HISTORIES=10000 draws more; TRUE_HISTORIES=1,4711 one, of that seed. */
const [cases = 600, firstSeed = 1] = (process.env.TRUE_HISTORIES ?? "").split(",").filter(Boolean).map(Number);

interface Story extends World {
  /** Requested amounts of the intents, the payment's own first. */
  readonly amounts: readonly bigint[];
  /** The payment has its intent from the beginning. */
  readonly isKnown?: true;
}

/** @returns what is wrong, with what happened; empty: nothing. */
function wrongIn(story: Story, seed: number): string {
  const random = new Random(seed);
  const intents = story.amounts.map((intentAmount, i) => new TrueIntent(`pi_${i + 1}`, intentAmount, story, random));
  const books = new FoldedBooks(amount, story.captures === "later", story.isKnown ? "pi_1" : "");
  const reports = intents.map((intent) => [intent.report()]);
  const log: string[] = [];
  const applyReport = (which: number, at: number) => {
    const report = reports[which]?.at(at);
    assert.ok(report);
    log.push(`pi_${which + 1} reports ${at < 0 ? "the newest" : at + 1}`);
    books.apply(structuredClone(report));
  };
  for (let step = random.int(2, 14); step > 0; step--) {
    const which = random.int(0, intents.length - 1);
    const what = intents[which]?.step(new Date(Date.UTC(2026, 0, 1) + reports.flat().length * 1_000));
    if (what === undefined || !intents[which]) continue;
    reports[which]?.push(intents[which].report());
    log.push(`${what} (report ${reports[which]?.length})`);
  }
  const late = reports.flatMap((all, which) =>
    all.flatMap((_, at) => Array.from({ length: random.int(0, 2) }, () => [which, at] as const)),
  );
  while (late.length > 0) {
    const [[which, at] = [0, 0]] = late.splice(random.int(0, late.length - 1), 1);
    applyReport(which, at);
  }
  for (const _ of "twice") intents.forEach((_intent, which) => applyReport(which, -1));
  const wrong = differences(books, intents);
  return wrong.length === 0 ? "" : [`seed ${seed}: ${wrong.join("; ")}`, ...log].join("\n  ");
}

function differences(books: FoldedBooks, intents: readonly TrueIntent[]): string[] {
  const there = intents.reduce((sum, intent) => sum + intent.there, 0n);
  const clearing = books.balance("processor_clearing");
  const held = books.funds.reduce((sum, row) => sum + heldIn(row), 0n);
  const suspended = -books.balance("suspense");
  return [
    ...(clearing === there ? [] : [`the books have ${clearing} at the processor, and ${there} are there`]),
    ...(suspended === held ? [] : [`the books have ${suspended} in suspense, and its rows hold ${held}`]),
    ...(books.payment.state.capturedAmount <= amount ? [] : ["more is captured than was asked for"]),
  ];
}

const stories: readonly (readonly [string, Story])[] = [
  ["an intent that is refunded and disputed", { amounts: [amount], refunds: "also_failing", disputes: true }],
  ["an intent whose debits come back", { amounts: [amount], returns: "whole", cancellations: true }],
  [
    "one that is captured later",
    { amounts: [amount], captures: "later", cancellations: true, refunds: "also_failing" },
  ],
  ["one that is captured later and comes back", { amounts: [amount], captures: "later", returns: "whole" }],
  [
    "two that are captured later, come back or are released",
    { amounts: [amount, amount], captures: "later", returns: "whole", cancellations: true },
  ],
  [
    "one that is refunded and comes back",
    { amounts: [amount], refunds: "also_failing", returns: "refunded", cancellations: true },
  ],
  [
    "one that is captured later, refunded and comes back",
    { amounts: [amount], captures: "later", refunds: "also_failing", returns: "refunded", cancellations: true },
  ],
  ["one of which too much is captured, and refunded", { amounts: [amount], overcaptures: true, refunds: "made" }],
  ["one of which too much is captured, and disputed", { amounts: [amount], overcaptures: true, disputes: true }],
  ["one of which too much is captured, and comes back", { amounts: [amount], overcaptures: true, returns: "whole" }],
  ["two intents that are refunded", { amounts: [amount, amount], refunds: "also_failing" }],
  ["two intents whose debits come back", { amounts: [amount, amount], returns: "whole", cancellations: true }],
  ["two intents that are disputed", { amounts: [amount, amount], disputes: true }],
  ["an intent of another amount", { amounts: [900n], refunds: "also_failing", disputes: true }],
  ["an intent of another amount, then the right one", { amounts: [900n, amount], refunds: "also_failing" }],
  ["two of other amounts, captured later", { amounts: [900n, 1_100n], captures: "later", refunds: "also_failing" }],
];

for (const [what, story] of stories) {
  test(`what is there is in the books: ${what}`, () => {
    for (let seed = firstSeed; seed < firstSeed + cases; seed++) {
      assert.equal(wrongIn(story, seed), "");
      assert.equal(wrongIn({ ...story, isKnown: true }, seed), "", "the payment has its intent");
    }
  });
}

test.run();
