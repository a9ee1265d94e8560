// Notification mails to a merchant's people: only to those with the right and the choice, once, and not after a
// response. Over RPC on a fresh database, with a real broker and SMTP server.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { QueuePaymentLinkResponse_Outcome } from "#proto/merchant/v1/receipts_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { startSmtpSink } from "../../harness/servers/smtp-sink.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { consoleOrigin, onBehalf, type SignedIn, startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("notifications of people", { timeoutMs: 60_000 });
const door = Door.MERCHANTS;
const dayMs = 86_400_000;

const sink = fixture(test, () => startSmtpSink());
const service = fixture(test, () => startPeopleOverRpc({ SMTP_URL: sink.url, MAIL_FROM: "console@shop.example" }));

interface Dispute {
  readonly merchantId: string;
  readonly type: string;
  readonly status: string;
  readonly disputeId: string;
  readonly due?: Date;
  readonly environment?: Environment;
}

async function announceDispute({ merchantId, type, status, disputeId, due, environment }: Dispute): Promise<void> {
  const attributes = {
    dispute_id: disputeId,
    dispute_status: status,
    ...(due && { evidence_due_at: due.toISOString() }),
  };
  await service.announce({
    type,
    merchantId,
    environment: environment ?? Environment.SANDBOX,
    objectId: newId("payment"),
    occurredAt: timestampFromDate(new Date()),
    attributes,
  });
}

const queued = async (kind: string, objectId: string) =>
  (
    await service.database.query(
      "select person_id, next_attempt_at as at from mails where kind = $1 and object_id = $2 and status = 'queued'",
      [kind, objectId],
    )
  ).rows;
const about = (email: string, text: string) =>
  sink.mails.filter(({ to, subject }) => [to].flat()[0]?.text === email && subject?.includes(text));
const firstAbout = (person: SignedIn, text: string) =>
  eventually(`a mail about ${text}`, () => about(person.email, text)[0]);

test("a dispute is notified with its due date to those who may respond, and again before that date unless answered", async () => {
  const merchantId = await service.newMerchant();
  const [owner, support, viewer] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "support" }),
    await service.joinMember(merchantId, { role: "viewer" }),
  ];
  const disputeId = newId("dispute");
  const due = new Date(Date.now() + 10 * dayMs);
  const dispute = { merchantId, disputeId, due };
  await announceDispute({ ...dispute, type: "dispute.created", status: "needs_response" });
  for (const person of [owner, support]) {
    const mail = await firstAbout(person, "new dispute");
    assert.equal(mail.subject, "[Sandbox] Acme: new dispute");
    assert(mail.text?.includes(due.toISOString().slice(0, 10)));
    assert(mail.text?.includes(`${consoleOrigin}/${merchantId}/sandbox/disputes/${disputeId}`));
  }
  const waiting = await queued("dispute_due", disputeId);
  assert.deepEqual(waiting.map((row) => row.person_id).sort(), [owner.personId, support.personId].sort());
  assert(waiting.every(({ at }) => Math.abs(at.getTime() - (due.getTime() - 3 * dayMs)) < 1_000));
  await service.database.query("update mails set next_attempt_at = now() where object_id = $1 and person_id = $2", [
    disputeId,
    owner.personId,
  ]);
  await firstAbout(owner, "due soon");
  await announceDispute({ ...dispute, type: "dispute.updated", status: "under_review" });
  await eventually("the notice to be canceled", async () => (await queued("dispute_due", disputeId)).length === 0);
  assert.equal(about(viewer.email, "new dispute").length, 0);
});

test("a failed live refund is notified in the person's language", async () => {
  const merchantId = await service.newMerchant();
  const owner = await service.joinMember(merchantId);
  await service.signIn.updatePerson({ sessionSecret: owner.secret, language: "de" });
  const [paymentId, refundId] = [newId("payment"), newId("refund")];
  await service.announce({
    type: "payment.refund_failed",
    merchantId,
    environment: Environment.LIVE,
    objectId: paymentId,
    occurredAt: timestampFromDate(new Date()),
    attributes: { refund_id: refundId, refund_status: "failed" },
  });
  const mail = await firstAbout(owner, "Erstattung");
  assert.equal(mail.subject, "Acme: Erstattung fehlgeschlagen");
  assert(mail.text?.includes(`/${merchantId}/live/payments/${paymentId}`) && mail.text.includes(refundId));
});

const announcePaid = (merchantId: string, amount: number, { currency = "EUR", ...more }: Paid = {}) =>
  service.announce({
    source: "checkout",
    type: "session.completed",
    merchantId,
    environment: Environment.LIVE,
    objectId: newId("session"),
    occurredAt: timestampFromDate(new Date()),
    money: { amount: BigInt(amount), currency },
    attributes: { payment_id: newId("payment"), payment_status: "succeeded", payment_link_id: "", ...more },
  });

type Paid = Readonly<Record<string, string>>;

test("a paid link is notified to those who make links, another checkout only to those who chose it, and not if authorized", async () => {
  const merchantId = await service.newMerchant();
  const [owner, support, finance] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "support" }),
    await service.joinMember(merchantId, { role: "finance" }),
  ];
  await service.signIn.updatePerson({ sessionSecret: support.secret, language: "de" });
  const choose = (person: SignedIn, ...kinds: string[]) =>
    service.people.updateNotifications({ sessionSecret: person.secret, merchantId, kinds });
  await choose(finance, "checkout_paid");
  const paymentId = newId("payment");
  await announcePaid(merchantId, 1_999, { payment_status: "requires_capture" });
  await announcePaid(merchantId, 1_200, { payment_link_id: "pl_1", payment_id: paymentId });
  await announcePaid(merchantId, 123_400);
  const mail = await firstAbout(owner, "you were paid");
  assert.equal(mail.subject, "Acme: you were paid €12.00");
  assert(mail.text?.includes(`${consoleOrigin}/${merchantId}/live/payments/${paymentId}`));
  assert((await firstAbout(support, "Zahlung über 12,00")).subject?.startsWith("Acme: "));
  assert.equal((await firstAbout(finance, "you were paid")).subject, "Acme: you were paid €1,234.00");
  const sent = [owner, finance].map(({ email }) => about(email, "you were paid").length);
  assert.deepEqual([...sent, about(support.email, "Zahlung").length], [1, 1, 1]);
});

test("the totals of a day in the shop's time zone are mailed once after it ended to those who chose them", async () => {
  const merchantId = await service.newMerchant();
  const [owner, finance] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "finance" }),
  ];
  const environment = Environment.LIVE;
  await service.merchants.updateProfile({ merchantId, environment, timeZone: "Pacific/Auckland" });
  const days = async () =>
    (
      await service.database.query(
        `select day::text as day, currency, total::int as total, count,
           (ends_at at time zone 'Pacific/Auckland')::text as ends from paid_days where merchant_id = $1 order by currency`,
        [merchantId],
      )
    ).rows;
  await announcePaid(merchantId, 99_900, { payment_link_id: "pl_1" });
  await firstAbout(owner, "you were paid €999.00");
  assert.deepEqual(await days(), [], "no one has chosen the totals yet");
  const kinds = ["paid_daily"];
  await service.people.updateNotifications({ sessionSecret: finance.secret, merchantId, kinds });
  for (const [amount, currency] of [
    [1_200, "EUR"],
    [2_400, "EUR"],
    [500, "JPY"],
  ] as const)
    await announcePaid(merchantId, amount, { currency });
  const found = await eventually("three payments", async () => {
    const rows = await days();
    return rows.reduce((sum, { count }) => sum + count, 0) === 3 ? rows : undefined;
  });
  const { day, ends } = found[0];
  const next = new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);
  assert.deepEqual(found, [
    { day, currency: "EUR", total: 3_600, count: 2, ends },
    { day, currency: "JPY", total: 500, count: 1, ends },
  ]);
  assert.equal(ends, `${next} 00:00:00`);
  await service.database.query("update paid_days set ends_at = now() - interval '61 minutes' where merchant_id = $1", [
    merchantId,
  ]);
  const replicas = await Promise.all([service.startReplica(), service.startReplica()]);
  const mail = await firstAbout(finance, "you were paid on");
  assert.equal(mail.subject, `Acme: you were paid on ${day}`);
  assert(mail.text?.includes(`Paid on ${day}: €36.00 (2 ×), ¥500.`), mail.text);
  assert(mail.text?.includes(`/${merchantId}/live/payments?from=${day}&to=${day}`));
  await Promise.all(replicas.map((replica) => replica.stop()));
  assert.deepEqual([await days(), about(finance.email, "paid on").length], [[], 1]);
  assert.equal(about(owner.email, "paid on").length, 0);
});

test("a failing endpoint is notified once a day to those who may see webhooks", async () => {
  const merchantId = await service.newMerchant();
  const [developer, finance] = [
    await service.joinMember(merchantId, { role: "developer" }),
    await service.joinMember(merchantId, { role: "finance" }),
  ];
  const announceDelivery = (type: string, endpointId: string, host: string) =>
    service.announce({
      source: "webhook",
      type,
      merchantId,
      environment: Environment.LIVE,
      objectId: newId("delivery"),
      occurredAt: timestampFromDate(new Date()),
      attributes: { endpoint_id: endpointId, endpoint_host: host, event_type: "payment.succeeded", last_error: "x" },
    });
  const [one, other] = [newId("endpoint"), newId("endpoint")];
  for (let i = 0; i < 20; i++) await announceDelivery("delivery.failing", one, "one.example");
  await announceDelivery("delivery.exhausted", one, "one.example");
  await announceDelivery("delivery.failing", other, "other.example");
  await eventually("both to be notified", () => about(developer.email, "endpoint failing").length === 2);
  const mail = about(developer.email, "endpoint failing").find(({ text }) => text?.includes("one.example"));
  assert(mail?.text?.includes(`${consoleOrigin}/${merchantId}/live/webhooks/${one}`));
  assert.equal(about(finance.email, "endpoint failing").length, 0);
});

test("payment links are mailed once a link and request for those with the right, a hundred an hour, twenty in the sandbox", async () => {
  const merchantId = await service.newMerchant();
  const [support, finance, stranger] = [
    await service.joinMember(merchantId, { role: "support" }),
    await service.joinMember(merchantId, { role: "finance" }),
    await service.joinMember(await service.newMerchant()),
  ];
  const to = `buyer-${newId("person")}@example.com`;
  const send = (person: SignedIn, change: object = {}) =>
    service.receipts.queuePaymentLink({
      ...{ sessionSecret: person.secret, merchantId, environment: Environment.LIVE, sessionId: newId("session") },
      ...{ url: "https://pay.example/c/cs_1#secret", email: to, locale: "fr", amount: 1_230n, currency: "EUR" },
      ...{ expiresAt: timestampFromDate(new Date(Date.now() + dayMs)), ...change },
    });
  await assert.rejects(send(finance), isRefusal("FORBIDDEN"));
  await assert.rejects(send(stranger), isRefusal("NOT_FOUND"));
  await assert.rejects(send({ ...support, secret: "x".repeat(43) }), isRefusal("UNAUTHORIZED"));
  for (const url of ["http://pay.example/c/1", "javascript:alert(1)", "pay.example"]) {
    await assert.rejects(send(support, { url }), isRefusal("INVALID_BODY", "url"));
  }
  await assert.rejects(send(support, { email: "a@b\r\nBcc: c@d.example" }), isRefusal("INVALID_BODY", "email"));
  const sessionId = newId("session");
  const all = await Promise.all(Array.from({ length: 8 }, () => send(support, { sessionId })));
  const { QUEUED, TOO_MANY } = QueuePaymentLinkResponse_Outcome;
  assert(all.every(({ outcome }) => outcome === QUEUED));
  const mail = await firstAbout({ ...support, email: to }, "demande un paiement");
  assert(mail.text?.includes("https://pay.example/c/cs_1#secret"));
  await Promise.all(Array.from({ length: 99 }, (_, i) => send(support, { email: `other-${i}@example.com` })));
  assert.equal((await send(support)).outcome, TOO_MANY);
  assert.equal((await send(support, { sessionId })).outcome, QUEUED, "a repeat of a queued one succeeds");
  assert.equal(about(to, "demande un paiement").length, 1);
  const environment = Environment.SANDBOX;
  const typed = { description: "Unlock your account", reference: "evil.example" };
  const email = `buyer-${newId("person")}@example.com`;
  await send(support, { environment, email, ...typed });
  const test = await firstAbout({ ...support, email }, "demande un paiement");
  assert(test.subject?.includes(merchantId) && !/Acme|Unlock|evil/.test(`${test.subject}${test.text}${test.html}`));
  const chosen = {
    environment,
    email: `buyer-${newId("person")}@example.com`,
    sessionId,
    amount: 0n,
    expiresAt: undefined,
  };
  for (const requestKey of ["one", "two", "two"]) await send(support, { ...chosen, requestKey });
  const mails = () => about(chosen.email, "demande un paiement");
  await eventually("a mail for each key", () => mails().length === 2);
  assert(mails()[0]?.text?.includes("Choisir le montant et payer") && !mails()[0]?.text?.includes("0,00"));
  for (let i = 0; i < 17; i++) assert.equal((await send(support, { environment })).outcome, QUEUED);
  assert.equal((await send(support, { environment })).outcome, TOO_MANY);
});

test("a new key is notified to others who may manage keys, not to its creator, and a burst is limited", async () => {
  const merchantId = await service.newMerchant();
  const [owner, developer] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "developer" }),
  ];
  const make = (name: string) =>
    onBehalf(owner.personId, () =>
      service.keys.createApiKey({ merchantId, environment: Environment.LIVE, name, scopes: ["payments:read"] }),
    );
  const { apiKey } = await make("<script>");
  const mail = await firstAbout(developer, "new API key");
  assert(mail.text?.includes("<script>") && String(mail.html).includes("&lt;script&gt;"));
  for (let i = 0; i < 30; i++) await make("many");
  await eventually("all to be sent", async () => {
    const { rows } = await service.database.query(
      "select 1 from mails where merchant_id = $1 and kind = 'key_created' and status = 'queued'",
      [merchantId],
    );
    return rows.length === 0;
  });
  assert(about(developer.email, "new API key").length < 25);
  assert.equal(about(owner.email, "new API key").length, 0);
  assert(apiKey);
});

test("the unsubscribe link ends one kind of mail for its own person only, without a sign-in", async () => {
  const { people } = service;
  const merchantId = await service.newMerchant();
  const [owner, other] = [await service.joinMember(merchantId), await service.joinMember(merchantId)];
  const dispute = { merchantId, type: "dispute.created", status: "needs_response" };
  await announceDispute({ ...dispute, disputeId: newId("dispute") });
  const mail = await firstAbout(owner, "new dispute");
  const { unsubscribe } = Object.fromEntries([
    ["unsubscribe", mail.headerLines.find(({ key }) => key === "list-unsubscribe")?.line ?? ""],
  ]);
  assert(mail.headerLines.some(({ line }) => line === "List-Unsubscribe-Post: List-Unsubscribe=One-Click"));
  const token = /\/unsubscribe\/([^>]+)>/.exec(unsubscribe?.replace(/\s+/g, "") ?? "")?.[1] ?? "";
  assert.notEqual(token, "", unsubscribe);
  const forged = token.replace(owner.personId, other.personId);
  await assert.rejects(people.endNotification({ token: forged }), isRefusal("NOT_FOUND"));
  for (let i = 0; i < 2; i++) assert.deepEqual((await people.endNotification({ token })).kind, "dispute_opened");
  const disputeId = newId("dispute");
  await announceDispute({ ...dispute, disputeId });
  await eventually("the other one's second mail", () => about(other.email, "new dispute").length === 2);
  assert.equal(about(owner.email, "new dispute").length, 1);
  const scope = { sessionSecret: owner.secret, merchantId };
  const { kinds } = await people.getNotifications(scope);
  assert.deepEqual(
    kinds.filter(({ isOn }) => !isOn).map(({ name }) => name),
    ["checkout_paid", "paid_daily", "dispute_opened"],
  );
});

test("a removed member gets no more mails, also queued ones", async () => {
  const merchantId = await service.newMerchant();
  const gone = await service.joinMember(merchantId);
  await service.joinMember(merchantId);
  const disputeId = newId("dispute");
  const due = new Date(Date.now() + 10 * dayMs);
  await announceDispute({ merchantId, type: "dispute.created", status: "needs_response", disputeId, due });
  await eventually("both to be queued", async () => (await queued("dispute_due", disputeId)).length === 2);
  await service.operator.removeMember({ door, merchantId, personId: gone.personId });
  assert(!(await queued("dispute_due", disputeId)).some((row) => row.person_id === gone.personId));
});

test("an operator's change of a merchant's status is mailed to its owners once, with the reason", async () => {
  const merchantId = await service.newMerchant();
  const [owner, admin] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "admin" }),
  ];
  const set = (status: string, reason = "") => service.merchants.updateMerchantState({ merchantId, status, reason });
  await set("suspended", "Card testing <b>");
  await set("suspended", "Card testing <b>");
  await service.merchants.updateMerchantState({ merchantId, refundsEnabled: false });
  const mail = await firstAbout(owner, "account suspended");
  for (const text of ["Reason: Card testing <b>", "refund payments", "will not come back"])
    assert(mail.text?.includes(text), text);
  assert.equal(String(mail.html).includes("<b>"), false);
  assert.equal(mail.headers.has("list-unsubscribe"), false);
  await set("active");
  await firstAbout(owner, "account active");
  await set("closed", "Contract ended");
  await firstAbout(owner, "account closed");
  assert.deepEqual([about(owner.email, "account").length, about(admin.email, "account").length], [3, 0]);
});

test.run();
