import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { linkState, linkViolations } from "./payment-link.ts";

const test = suite("payment link rules");
const now = new Date("2026-11-29T12:00:00Z");
const order = {
  ...{ currency: "EUR", amountMin: 500n, amountMax: 500n, description: "", orderReference: "", customerEmail: "" },
  ...{ locale: "", lineItems: [], captureMethod: "automatic", usesMax: undefined, expiresAt: undefined },
};

test("a link's state follows from what was paid, what may still be paid, its end and its close", () => {
  for (const [change, [paid, pending], state] of [
    [{}, [0, 0], "active"],
    [{}, [9_000, 9_000], "active"],
    [{ usesMax: 3 }, [1, 1], "active"],
    [{ usesMax: 3 }, [1, 2], "busy"],
    [{ usesMax: 3 }, [3, 0], "sold_out"],
    [{ usesMax: 3 }, [4, 1], "sold_out"],
    [{ usesMax: 3, status: "closed" }, [3, 0], "sold_out"],
    [{ usesMax: 3, status: "closed" }, [1, 2], "closed"],
    [{ expiresAt: now }, [0, 0], "expired"],
    [{ expiresAt: new Date(now.getTime() + 1) }, [0, 0], "active"],
    [{ usesMax: 1, expiresAt: now }, [0, 1], "expired"],
  ] as const) {
    const link = { ...order, status: "active", ...change } as const;
    assert.equal(linkState(link, { paid, pending }, now), state, JSON.stringify([change, paid, pending]));
  }
});

test("refuses an order that its page could not keep, and names the field", () => {
  const line = { name: "Tree", quantity: 1, amount: 500n };
  for (const [change, ...fields] of [
    [{}],
    [{ lineItems: [line], usesMax: 1, customerEmail: "ada@example.com" }],
    [{ amountMax: 900n }],
    [{ amountMax: 499n }, "amount_max"],
    [{ amountMax: 900n, lineItems: [line] }, "line_items"],
    [{ lineItems: [{ ...line, amount: 400n }] }, "line_items"],
    [{ amountMax: 900n, usesMax: 1 }, "uses_max"],
    [{ customerEmail: "ada@example.com" }, "customer_email"],
    [{ customerEmail: "ada", usesMax: 1 }, "customer_email"],
    [{ expiresAt: now }, "expires_at"],
    [{ currency: "XXX" }, "currency"],
  ] as const) {
    const found = linkViolations({ ...order, ...change }, now).map(({ field }) => field);
    assert.deepEqual(found, fields, String(fields));
  }
});

test.run();
