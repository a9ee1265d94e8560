import assert from "node:assert/strict";
import { eventually } from "../../../test/harness/eventually.ts";
import { suite } from "../../../test/harness/suite.ts";
import { Hearing } from "./hearing.ts";

const test = suite("hearing the broker");
const realNow = performance.now.bind(performance);
test.afterEach(() => {
  performance.now = realNow;
});

/** From here on the process's monotonic clock is so much further. */
function passTime(ms: number): void {
  const now = performance.now.bind(performance);
  performance.now = () => now() + ms;
}

/** A connection to a broker that hangs and goes on as a test wants; and how often it was asked and came back. */
function broker() {
  const waiting: PromiseWithResolvers<void>[] = [];
  const counts = { asked: 0, returned: 0 };
  let isHung = false;
  const flush = () => {
    counts.asked += 1;
    const answer = Promise.withResolvers<void>();
    if (isHung) waiting.push(answer);
    else answer.resolve();
    return answer.promise;
  };
  const hearing = new Hearing({ flush }, () => {
    counts.returned += 1;
  });
  return {
    hearing,
    counts,
    hang: () => {
      isHung = true;
    },
    goOn: () => {
      isHung = false;
      for (const answer of waiting.splice(0)) answer.resolve();
    },
  };
}

const heard = (hearing: Hearing) => eventually("the broker to be heard", () => hearing.isHeard);

test("a broker that answers is heard, and surely once nothing from before can still come", async () => {
  const { hearing, counts } = broker();
  assert.equal(hearing.isHeard, false, "nobody has answered yet");
  await heard(hearing);
  assert.equal(hearing.isSure, false);
  for (let i = 0; i < 12; i++) {
    passTime(400);
    const { asked } = counts;
    await eventually("another question", () => counts.asked > asked);
  }
  await eventually("the broker to be surely heard", () => hearing.isSure);
  hearing.stop();
});

test("a broker that hangs with its connection open is not heard any more within a second", async () => {
  const { hearing, counts, hang } = broker();
  await heard(hearing);
  hang();
  const { asked } = counts;
  await eventually("a question without an answer", () => counts.asked > asked);
  passTime(1_000);
  assert.equal(hearing.isHeard, false);
  assert.equal(hearing.isSure, false);
  hearing.stop();
});

test("questions to a broker that hangs do not pile up", async () => {
  const { hearing, counts, hang } = broker();
  await heard(hearing);
  hang();
  const { asked } = counts;
  // The time of three questions.
  await eventually("the broker to be silent", () => !hearing.isHeard);
  assert.equal(counts.asked, asked + 1);
  hearing.stop();
});

test("after a silence the gap is told before the broker counts as heard, and an old answer proves nothing", async () => {
  const { hearing, counts, hang, goOn } = broker();
  await heard(hearing);
  assert.equal(counts.returned, 1, "the start is a gap, too");
  hang();
  const { asked } = counts;
  await eventually("a question without an answer", () => counts.asked > asked);
  passTime(2_000);
  goOn();
  await Promise.resolve();
  assert.equal(hearing.isHeard, false, "its answer is about two seconds ago");
  await heard(hearing);
  assert.ok(counts.returned >= 2);
  hearing.stop();
});

test.run();
