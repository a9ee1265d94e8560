import * as assert from "uvu/assert";
import { suite } from "../../test/harness/suite.ts";
import { loggedPath } from "./api-requests.ts";

const test = suite("logged path");

test("keeps well-formed ids in a logged path and drops everything else", () => {
  const id = "pay_01jd3v9q6k8m2n4p6r8t0v2x4z";
  assert.is(loggedPath("/v1/payments/:id/refunds", { id }), `/v1/payments/${id}/refunds`);
  for (const secret of [`cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_${"a".repeat(43)}`, "sk_test_x", `${id}\n`, ""]) {
    assert.is(loggedPath("/v1/checkout/:id", { id: secret }), "/v1/checkout/:id");
  }
});

test.run();
