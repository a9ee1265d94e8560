// The search of /docs finds the page that answers a question, in the index that the browser loads.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../../test/harness/suite.ts";
import { createIndex, findSections, snippetOf, stemOf } from "./browser/search-index.ts";

const test = suite("docs search");
const index = createIndex(JSON.parse(readFileSync(join(import.meta.dirname, "dist/docs/search.json"), "utf8")));
const first = (query: string) => findSections(index, query)[0]?.id ?? "";

/** Beginning of the address of the first result. */
const answers: Readonly<Record<string, string>> = {
  "how do I verify a webhook": "/docs/webhooks#verify",
  "do I need to handle duplicate webhooks": "/docs/webhooks#handle-duplicates",
  "how often is a webhook retried": "/docs/webhooks#retries",
  "status processing": "/docs/api/events#payment.processing",
  "what does a payment's status succeeded mean": "/docs/states#payment",
  "go live with Stripe": "/docs/go-live",
  "live keys": "/docs/go-live",
  "how do idempotency keys work": "/docs/idempotency",
  "how do I test 3DS": "/docs/test-cards",
  "apple pay": "/docs/checkout-page#apple-pay",
  wallet: "/docs/checkout-page#apple-pay",
  "content security policy": "/docs/browser-sdk#content-security-policy",
  csp: "/docs/browser-sdk#content-security-policy",
  "how do I refund": "/docs/refunds",
  "why was my refund refused": "/docs/refunds#when-it-is-refused",
  "what does unauthorized mean": "/docs/api/errors#unauthorized",
  idempotency_key_reuse: "/docs/api/errors#idempotency_key_reuse",
  "rate limits": "/docs/rate-limits",
  chargeback: "/docs/api/disputes",
  subscriptions: "/docs/go-live#what-tollbooth-does-not-have",
  VAT: "/docs/go-live#what-tollbooth-does-not-have",
  "saved cards": "/docs/go-live#what-tollbooth-does-not-have",
  createRefund: "/docs/api/refunds#createRefund",
  "refnd a payment": "/docs/refunds",
};

test("a question finds the page that answers it first, and its objects of the reference later", () => {
  const found = Object.fromEntries(Object.keys(answers).map((query) => [query, first(query)]));
  const wrong = Object.entries(found).filter(([query, id]) => !id.startsWith(answers[query] ?? "?"));
  assert.deepEqual(wrong, []);
  for (const query of ["", "how do I", "zzzzqq", "constructor"])
    assert.deepEqual(findSections(index, query), [], query);
  const kinds = findSections(index, "how do I refund a payment").map(({ id }) => /^\/docs\/api\/\w+#[A-Z]/.test(id));
  assert.ok(kinds.indexOf(true) > 10, "an object is far behind");
});

test("forms of a word are one term, and a term stays apart from others", () => {
  for (const forms of [
    "verify verifies verified verifying",
    "refund refunds refunded",
    "capture captured capturing captures",
  ])
    assert.equal(new Set(forms.split(" ").map(stemOf)).size, 1, forms);
  for (const word of ["status", "address", "test_cards", "sk_live", "3ds", "pay"]) assert.equal(stemOf(word), word);
  assert.notEqual(stemOf("process"), stemOf("processor"));
});

test("a snippet shows the words that matched and marks them, within its length", () => {
  const text = `A webhook ${"filler ".repeat(60)}a signed webhook is verified before 3-D Secure ends${" filler".repeat(60)}`;
  const [found] = findSections(createIndex([["/docs/x", "X", "", text]]), "verify webhooks with 3ds");
  const parts = snippetOf(found ?? assert.fail());
  assert.deepEqual(
    parts.filter(({ isHit }) => isHit).map((part) => part.text),
    ["webhook", "verified", "3-D Secure"],
  );
  const whole = parts.map((part) => part.text).join("");
  assert.ok(whole.length <= 150 && whole.startsWith("… ") && whole.endsWith(" …"), whole);
  assert.deepEqual(snippetOf({ text: "short", terms: [] }), [{ text: "short", isHit: false }]);
});

test.run();
