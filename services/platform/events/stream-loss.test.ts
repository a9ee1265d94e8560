import assert from "node:assert/strict";
import { test } from "uvu";
import { judgeStream, type KnownStream, type SeenStream } from "./stream-loss.ts";

const follower = { name: "fan-out", madeAt: "monday", consumedSeq: 90 };
const known: KnownStream = {
  ...{ stream: "t-payments", madeAt: "sunday", consumers: ["fan-out monday"], lastSeq: 100, consumedSeq: 80 },
};
const seen: SeenStream = {
  ...{ stream: "t-payments", madeAt: "sunday", isOurs: false, lastSeq: 100, gaps: [], consumers: [follower] },
};

test("the consumed position never decreases, except for a new consumer", () => {
  const slow = { name: "audit", madeAt: "monday", consumedSeq: 10 };
  const both = { ...known, consumers: ["fan-out monday", "audit monday"] };
  const whole = (of: KnownStream, consumers: SeenStream["consumers"]) => judgeStream(of, { ...seen, consumers });
  const found = { kind: "whole", isSettled: false, hasNewConsumer: false, gaps: [] };
  assert.deepEqual(whole(known, [follower]), { ...found, consumedSeq: 90 });
  assert.deepEqual(whole(both, [follower, slow]), { ...found, consumedSeq: 80 });
  assert.deepEqual(whole(known, [follower, slow]), { ...found, consumedSeq: 10, hasNewConsumer: true });
  assert.deepEqual(whole(known, [{ ...follower, madeAt: "today", consumedSeq: 0 }]), {
    ...{ ...found, consumedSeq: 0, hasNewConsumer: true },
  });
  assert.deepEqual(whole(known, [{ ...follower, consumedSeq: 100 }]), { ...found, consumedSeq: 100, isSettled: true });
  assert.deepEqual(whole(known, []), { ...found, consumedSeq: 80 }, "a stream without consumers is never settled");
});

test("reports an empty position until every consumer has consumed it", () => {
  const gapsFor = (gaps: number[], consumers = [follower]) => {
    const finding = judgeStream(known, { ...seen, gaps, consumers });
    return finding.kind === "whole" ? finding.gaps : assert.fail(finding.kind);
  };
  assert.deepEqual(gapsFor([80, 81, 99]), [81, 99]);
  assert.deepEqual(gapsFor([80], [{ ...follower, madeAt: "today" }]), [80]);
});

test.run();
