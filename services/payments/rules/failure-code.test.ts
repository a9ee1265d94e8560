// The catalogue of failure codes: its words, its advice, and the table that merchants read.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite } from "../../../test/harness/suite.ts";
import { simulatorFailureNames } from "../connectors/simulator/answers.ts";
import { stripeFailureNames } from "../connectors/stripe/failure-names.ts";
import { failureCodeOf, failureCodes } from "./failure-code.ts";

const test = suite("failure codes");

test("maps a processor's code to the contract's, and an unlisted one to unknown", () => {
  for (const [names, reported, code] of [
    [stripeFailureNames, "generic_decline", "card_declined"],
    [stripeFailureNames, "insufficient_funds", "insufficient_funds"],
    [stripeFailureNames, "stolen_card", "lost_or_stolen"],
    [stripeFailureNames, "payment_intent_authentication_failure", "authentication_failed"],
    [simulatorFailureNames, "blocked_high_risk", "blocked"],
    [simulatorFailureNames, "not_processed", "not_processed"],
    [stripeFailureNames, "a_code_of_next_year", "unknown"],
    [stripeFailureNames, "", "unknown"],
    [stripeFailureNames, "constructor", "unknown"],
    [stripeFailureNames, "toString", "unknown"],
  ] as const)
    assert.equal(failureCodeOf(names, reported), code, reported);
});

test("docs/contract.md §5 lists every code with its meaning and its advice", () => {
  const page = readFileSync(new URL("../../../docs/contract.md", import.meta.url), "utf8");
  const listed = [...page.matchAll(/^\| `(\w+)` \| ([^|]+) \| `(\w+)` \|$/gm)].map(([, ...row]) => row);
  const known = Object.entries(failureCodes).map(([code, { meaning, advice }]) => [code, meaning, advice]);
  assert.deepEqual(
    listed.filter(([code = ""]) => code in failureCodes),
    known,
  );
});

test.run();
