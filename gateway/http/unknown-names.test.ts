import assert from "node:assert/strict";
import { suite } from "../../test/harness/suite.ts";
import { ignoredFields, unknownProblem, unknownRoute } from "./unknown-names.ts";

const test = suite("unknown names");

test("suggests the most similar known name, and none that is too different", () => {
  const known = ["status", "from", "to", "capture_method", "q"];
  for (const [name, meant] of [
    ["stauts", "status"],
    ["statsu", "status"],
    ["capture_metod", "capture_method"],
    ["form", "from"],
    ["x", undefined],
    ["fro", "from"],
    ["colour", undefined],
    ["", undefined],
    ["x".repeat(5_000), undefined],
  ] as const)
    assert.equal(unknownProblem(name, known), `is unknown${meant ? `; did you mean ${meant}?` : ""}`, name);
  assert.equal(unknownProblem("x", []), "is unknown");
});

test("names the most similar route, and repeats no path that is not plain", () => {
  const paths = [
    "/v1/payments",
    "/v1/payments/:id",
    "/v1/payments/:id/refunds",
    "/v1/merchants/me/webhooks/:id/health",
  ];
  const id = "pay_01jd3v9q6k8m2n4p6r8t0v2x4z";
  for (const [path, expected] of [
    ["/v1/paymets?q=secret", "no such route: GET /v1/paymets; did you mean /v1/payments? see /docs/api"],
    ["/payments", "no such route: GET /payments; did you mean /v1/payments? see /docs/api"],
    [
      `/v1/payments/${id}/refund`,
      `no such route: GET /v1/payments/${id}/refund; did you mean /v1/payments/{id}/refunds? see /docs/api`,
    ],
    ["/v1/customers", "no such route: GET /v1/customers; see /docs/api"],
    ["/v1/%3Cscript%3E", "no such route; see /docs/api"],
    ["/v1/<script>", "no such route; see /docs/api"],
    [`/v1/${"x".repeat(200)}`, "no such route; see /docs/api"],
  ] as const)
    assert.equal(unknownRoute("GET", path, paths), expected);
});

test("lists ignored fields in a form and length that a header allows", () => {
  const schema = { properties: { name: {} } };
  assert.equal(ignoredFields(schema, { name: "a" }), undefined);
  assert.equal(ignoredFields(schema, undefined), undefined);
  assert.equal(
    ignoredFields(schema, { colour: 1, "a\r\nb: c": 2, größe: 3 }),
    "colour, a%0D%0Ab%3A%20c, gr%C3%B6%C3%9Fe",
  );
  assert.equal(ignoredFields(schema, { constructor: 1 }), "constructor");
  const many = Object.fromEntries(Array.from({ length: 100 }, (_none, i) => [`${i}${"x".repeat(100)}`, i]));
  const named = ignoredFields(schema, many)?.split(", ") ?? [];
  assert.deepEqual([named.length, named[0]?.length], [10, 32]);
  assert.equal(ignoredFields(schema, { [`${"a".repeat(31)}😀`]: 1 }), `${"a".repeat(31)}%EF%BF%BD`);
});

test.run();
