import assert from "node:assert/strict";
import Fastify, { type FastifyReply } from "fastify";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../../test/harness/suite.ts";
import { ApiError } from "../failures.ts";
import type { Principal } from "../principal.ts";
import { RateLimits } from "./rate-limits.ts";

const test = suite("rate limits' memory");
// More than any cache keeps.
const guesses = 120_000;
const session = "cs_01jd3v9q6k8m2n4p6r8t0v2x4z";

function someLimits(): RateLimits {
  return new RateLimits({
    RATE_LIMIT: "on",
    RATE_LIMIT_LIVE_PER_SECOND: 1,
    RATE_LIMIT_SANDBOX_PER_SECOND: 1,
    RATE_LIMIT_KEYS_PER_MERCHANT: 1,
    RATE_LIMIT_RESOLVE_PER_MINUTE: 60,
    RATE_LIMIT_CONFIRM_PER_MINUTE: 10,
    RATE_LIMIT_CONFIRM_ADDRESS_PER_MINUTE: 30,
    RATE_LIMIT_ONBOARDING_PER_HOUR: 1,
    RATE_LIMIT_APPLICANT_PER_HOUR: 1,
    RATE_LIMIT_REFUSED_KEYS_PER_MINUTE: 1,
    RATE_LIMIT_REFUSED_SECRETS_PER_MINUTE: 1,
    RATE_LIMIT_REFUSED_PAGES_PER_MINUTE: 1,
    RATE_LIMIT_REFUSED_EVENTS_PER_MINUTE: 1,
    RATE_LIMIT_REPORTS_PER_MINUTE: 1,
  });
}

async function whileAnswering(act: (reply: FastifyReply) => void): Promise<void> {
  const app = Fastify();
  app.get("/", async (_request, reply) => {
    act(reply);
    return "";
  });
  const answer = await app.inject("/");
  await app.close();
  assert.equal(answer.statusCode, 200, answer.body);
}

test("made-up session secrets never evict an address's limit, here or in another replica", async () => {
  await whileAnswering((reply) => {
    const [here, there] = [someLimits(), someLimits()];
    here.onTake = (bucket, rule) => there.subtract(bucket, 1, rule);
    here.takeForOnboarding("203.0.113.1", reply);
    for (let i = 0; i < guesses; i++) here.takeForResolve(session, `made up ${i}`, reply);
    for (const limits of [here, there]) {
      assert.throws(() => limits.takeForOnboarding("203.0.113.1", reply), ApiError);
    }
  });
});

test("another replica's reports, by any rule, leave a bucket a debt of at most one burst", async () => {
  await whileAnswering((reply) => {
    const limits = someLimits();
    const principal = { keyId: "ak_1", merchantId: "mer_1", environment: Environment.LIVE } as Principal;
    limits.takeForKey(principal, reply);
    for (const name of ["key ak_1", "key ak_2"])
      for (let i = 0; i < 50; i++) limits.subtract(name, 1e12, { perMs: 1e-12, burst: 1e12 });
    for (const keyId of ["ak_1", "ak_2"]) {
      assert.throws(
        () => limits.takeForKey({ ...principal, keyId }, reply),
        // A burst is two requests at one per second.
        (error) => error instanceof ApiError && Number(error.headers["retry-after"]) <= 3,
      );
    }
  });
});

test.run();
