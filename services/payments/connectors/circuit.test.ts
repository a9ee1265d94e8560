import assert from "node:assert/strict";
import { createLog } from "#platform/telemetry/log.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../../../test/harness/eventually.ts";
import { suite } from "../../../test/harness/suite.ts";
import { Circuits } from "./circuit.ts";
import type { Connector, IntentReport, ProcessorAccount, ProcessorAnswer } from "./connector.ts";

const test = suite("circuits of connector accounts");
const noAnswer = { kind: "unknown", answered: false, cause: new Error("no answer") } as const;
const refused = { kind: "declined", code: "refused", message: "" } as const;

function account(id: string): ProcessorAccount {
  const name = { id, merchantId: "mer_1", environment: Environment.SANDBOX, connector: "acme" };
  return { ...name, externalAccountId: id, surface: "embedded", credentials: {}, refundsEnabled: true };
}

/** A processor that gives the same answer to every call. */
function processor(timeoutMs = 1_000) {
  const acme = { answer: noAnswer as ProcessorAnswer<never> | "never", sent: 0 };
  const respond = async <T>(): Promise<ProcessorAnswer<T>> => {
    acme.sent += 1;
    return acme.answer === "never" ? await new Promise(() => {}) : acme.answer;
  };
  const connector: Connector = {
    name: "acme",
    surfaces: ["embedded"],
    environments: [Environment.SANDBOX],
    keyLifeSeconds: 60,
    failureNames: {},
    methods: [],
    capturesLater: true,
    processorTime: () => undefined,
    refusesAmount: () => undefined,
    judgeCredentials: () => [],
    readAccount: respond,
    createIntent: respond,
    payIntent: respond,
    findIntent: respond,
    retrieveIntent: respond<IntentReport>,
    captureIntent: respond,
    cancelIntent: respond,
    createRefund: respond,
    findRefund: respond,
    retrieveDispute: respond,
    uploadFile: respond,
    submitEvidence: respond,
    acceptDispute: respond,
    balance: { readMovements: respond, readPayouts: respond, readPayoutLines: respond, readBalance: respond },
    readWebhook: async () => [],
    close: async () => {},
  };
  const circuits = new Circuits({ windowCalls: 4, openMaxMs: 60, timeoutMs }, createLog("test", "fatal"));
  return { acme, circuits, guarded: circuits.guard(connector) };
}

async function breakIt({ guarded }: ReturnType<typeof processor>, of: ProcessorAccount): Promise<void> {
  for (let i = 0; i < 2; i++) await guarded.cancelIntent(of, "pi_1", "release");
}

test("an open circuit sends nothing: a command is not sent, a query is unknown", async () => {
  const rig = processor();
  const { acme, circuits, guarded } = rig;
  await breakIt(rig, account("a"));
  assert.equal(circuits.isOpen("a"), true);
  const sent = acme.sent;
  assert.equal((await guarded.cancelIntent(account("a"), "pi_1", "release")).kind, "not_sent");
  assert.equal((await guarded.retrieveIntent(account("a"), "pi_1")).kind, "unknown");
  assert.equal(
    (await guarded.findRefund(account("a"), { intentRef: "pi_1", reference: "re_1" })).kind,
    "unknown",
    "no proof of absence",
  );
  assert.equal((await guarded.balance?.readBalance(account("a")))?.kind, "unknown");
  assert.equal(acme.sent, sent);
});

test("a circuit's pause does not depend on the machine's clock", async () => {
  const [rig, now] = [processor(), Date.now];
  try {
    Date.now = () => now() + 3_600_000; // an hour ahead while it opens
    await breakIt(rig, account("a"));
  } finally {
    Date.now = now;
  }
  assert.equal(rig.circuits.isOpen("a"), true);
  rig.acme.answer = refused;
  const isProbed = async () => (await rig.guarded.cancelIntent(account("a"), "pi_1", "release")).kind === "declined";
  await eventually("a probe to be sent", isProbed, { limitMs: 2_000, everyMs: 10 });
});

test("the snapshot lists open circuits first, with the times of opening and probe", async () => {
  const rig = processor();
  const [well, broken] = [account("mco_well"), account("mco_broken")];
  rig.acme.answer = refused;
  await rig.guarded.cancelIntent(well, "pi_1", "release");
  rig.acme.answer = noAnswer;
  await breakIt(rig, broken);
  const [first, second] = rig.circuits.snapshot();
  assert.deepEqual([first?.connectorAccountId, first?.connector, first?.state], ["mco_broken", "acme", "open"]);
  assert.ok(first?.since instanceof Date && first.probeInMs >= 0 && first.probeInMs <= 60);
  assert.deepEqual(second, {
    connectorAccountId: "mco_well",
    connector: "acme",
    state: "closed",
    since: undefined,
    probeInMs: 0,
  });
});

test("each account has its own circuit", async () => {
  const rig = processor();
  await breakIt(rig, account("a"));
  assert.equal(rig.circuits.isOpen("b"), false);
  const sent = rig.acme.sent;
  await rig.guarded.retrieveIntent(account("b"), "pi_1");
  assert.equal(rig.acme.sent, sent + 1);
});

test("declines do not open the circuit", async () => {
  const rig = processor();
  rig.acme.answer = refused;
  for (let i = 0; i < 10; i++) await rig.guarded.cancelIntent(account("a"), "pi_1", "release");
  rig.acme.answer = { kind: "not_sent", cause: undefined };
  for (let i = 0; i < 10; i++) await rig.guarded.retrieveIntent(account("a"), "pi_1");
  assert.equal(rig.circuits.isOpen("a"), false, "that it has nothing is an answer too");
});

test("after the pause one call probes, and its answer closes the circuit", async () => {
  const rig = processor();
  await breakIt(rig, account("a"));
  rig.acme.answer = refused;
  await eventually("the probe", async () => !rig.circuits.isOpen("a"));
  assert.equal((await rig.guarded.cancelIntent(account("a"), "pi_1", "release")).kind, "declined");
  assert.equal((await rig.guarded.cancelIntent(account("a"), "pi_1", "release")).kind, "declined");
});

test("other calls are refused while a probe is under way", async () => {
  const rig = processor(200);
  await breakIt(rig, account("a"));
  rig.acme.answer = "never";
  await eventually("the pause to end", async () => !rig.circuits.isOpen("a"));
  let isOver = false;
  const probe = rig.guarded.retrieveIntent(account("a"), "pi_1").finally(() => (isOver = true));
  const sent = rig.acme.sent;
  assert.equal((await rig.guarded.cancelIntent(account("a"), "pi_1", "release")).kind, "not_sent");
  assert.equal(isOver, false, "no call waits for the probe");
  assert.equal(rig.acme.sent, sent);
  assert.equal((await probe).kind, "unknown", "the time limit ended it");
  assert.equal(rig.circuits.isOpen("a"), true);
});

test.run();
