// Mail of the merchant service: queued with its cause, retried, given up after a permanent refusal; and mailed sign-in
// links. Over RPC on a fresh database, with a real SMTP server.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Secret, TOTP } from "otpauth";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { startSmtpSink } from "../../harness/servers/smtp-sink.ts";
import { SoftwareAuthenticator } from "../../harness/software-authenticator.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { addPasskey, anEmail, consoleOrigin, signedIn, startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("mail of the merchant service", { timeoutMs: 60_000 });
const door = Door.MERCHANTS;
const browser = { address: "203.0.113.7", agent: "Mozilla/5.0 Chrome/120" };

const sink = fixture(test, () => startSmtpSink());
const service = fixture(test, () =>
  startPeopleOverRpc({ SMTP_URL: sink.url, MAIL_FROM: "Tollbooth <console@shop.example>" }),
);

const aBrowser = () => randomBytes(24).toString("base64url");
const linkIn = (text: string | undefined) => /https:\/\/\S+\/(\S+)/.exec(text ?? "")?.[1] ?? assert.fail("no link");

const linksTo = (email: string) =>
  sink.mails.filter(({ subject, to }) => subject === "Your sign-in link" && [to].flat()[0]?.text === email);

/** Requests a link and reads the mail. @returns its token */
async function linked(email: string, browserSecret: string): Promise<string> {
  const before = linksTo(email).length;
  await service.signIn.requestSignInLink({ door, email, browserSecret, browser });
  const mail = await eventually("the link's mail", () => linksTo(email)[before]);
  return linkIn(mail.text);
}

const redeem = (token: string, browserSecret: string, code = "") =>
  service.signIn.redeemSignInLink({ door, token, browserSecret, code, browser });

test("an invitation goes by mail only, as text and HTML in the requested language, and proves the address", async () => {
  const { people, operator, signIn, database } = service;
  const merchantId = await service.newMerchant();
  await database.query("update brandings set display_name = $2 where merchant_id = $1", [
    merchantId,
    '<b>Ädler & "Co"',
  ]);
  const owner = await service.joinMember(merchantId);
  const email = anEmail();
  const input = { sessionSecret: owner.secret, door, merchantId, email, role: "viewer", language: "de" };
  const { link, isMailed } = await people.inviteMember(input);
  assert.deepEqual([link, isMailed], ["", true]);
  const mail = await sink.mailTo(email, "Einladung in die Konsole von Acme");
  assert(mail.text?.includes("Ada lädt Sie"));
  assert(mail.text?.includes('<b>Ädler & "Co"'));
  assert(String(mail.html).includes("&lt;b&gt;Ädler &amp; &quot;Co&quot;"));
  assert(!mail.headers.has("list-unsubscribe"), "it is transactional");
  const { session } = await signIn.acceptInvitation({ door, token: linkIn(mail.text), name: "Bob" });
  const { rows } = await database.query("select email_proved_at as at from persons where id = $1", [
    session?.session?.person?.id,
  ]);
  assert(rows[0]?.at);
  const byCommand = await operator.inviteMember({ door, merchantId, email: anEmail(), role: "viewer" });
  assert(byCommand.isMailed && byCommand.link !== "");
});

test("a name with an address is refused, and an existing one is left out of invitations", async () => {
  const { people, signIn, database } = service;
  const merchantId = await service.newMerchant();
  const owner = await service.joinMember(merchantId);
  const sessionSecret = owner.secret;
  const token = await service.issueInvitation(merchantId);
  for (const name of ["Win http://evil.example/win", "evil.example", "www.t.co", "Ada win@evil.example"]) {
    await assert.rejects(signIn.updatePerson({ sessionSecret, name }), isRefusal("INVALID_BODY", "name"));
    await assert.rejects(signIn.acceptInvitation({ door, token, name }), isRefusal("INVALID_BODY", "name"));
  }
  for (const name of ["J. R. R. Tolkien", "Jean-Luc O’Neill", "李小龍", "Ada, Dr. math."]) {
    await signIn.updatePerson({ sessionSecret, name });
  }
  await database.query("update persons set name = 'http://evil.example/win' where id = $1", [owner.personId]);
  await database.query("update merchants set name = 'Prizes at evil.example' where id = $1", [merchantId]);
  const email = anEmail();
  await people.inviteMember({ sessionSecret, door, merchantId, email, role: "viewer" });
  const mail = await sink.mailTo(email, `Invitation to the console of ${merchantId}`);
  assert(mail.text?.includes(`${owner.email} invites you`) && !`${mail.text}${mail.html}`.includes("evil"));
});

test("a sign-in mail is sent while the server is busy with another mail", async () => {
  const { receipts, database } = service;
  const merchantId = await service.newMerchant();
  const owner = await service.joinMember(merchantId);
  const email = anEmail();
  const release = sink.hold(email);
  const sessionId = newId("session");
  const until = timestampFromDate(new Date(Date.now() + 60_000));
  await receipts.queuePaymentLink({
    ...{ sessionSecret: owner.secret, merchantId, environment: Environment.LIVE, sessionId, expiresAt: until },
    ...{ url: "https://pay.example/c/cs_1", email, amount: 100n, currency: "EUR" },
  });
  const busy = "select 1 from mails where object_id = $1 and attempts = 1 and status = 'queued'";
  await eventually("the server to be busy", async () => (await database.query(busy, [sessionId])).rowCount === 1);
  await linked(owner.email, aBrowser());
  assert.equal((await database.query(busy, [sessionId])).rowCount, 1, "it is still busy");
  release();
  await sink.mailTo(email, "Payment request from");
});

test("a team mails at most a hundred invitations a day, revoked ones included, independent of other teams", async () => {
  const { people, database } = service;
  const [merchantId, other] = [await service.newMerchant(), await service.newMerchant()];
  const [owner, others] = [await service.joinMember(merchantId), await service.joinMember(other)];
  const inputFor = () => ({ sessionSecret: owner.secret, door, merchantId, email: anEmail(), role: "viewer" });
  const mailed = async (statuses: readonly string[]) => {
    const { rows } = await database.query(
      "select count(*)::int as n from mails where kind = 'invitation' and merchant_id = $1 and status = any($2)",
      [merchantId, statuses],
    );
    return Number(rows[0].n);
  };
  let last = "";
  for (let n = await mailed(["queued", "sent"]); n < 100; n++)
    last = (await people.inviteMember(inputFor())).invitation?.id ?? "";
  await eventually("all to be sent", async () => (await mailed(["sent"])) === 100);
  await people.revokeInvitation({ ...inputFor(), invitationId: last });
  await assert.rejects(people.inviteMember(inputFor()), isRefusal("INVALID_BODY", "invitations"));
  await people.inviteMember({ ...inputFor(), sessionSecret: others.secret, merchantId: other });
  await database.query("update mails set created_at = created_at - interval '1 day' where merchant_id = $1", [
    merchantId,
  ]);
  await people.inviteMember(inputFor());
});

test("an invitation that is revoked before it was sent is not sent", async () => {
  const { people, database } = service;
  const merchantId = await service.newMerchant();
  const owner = await service.joinMember(merchantId);
  const email = anEmail();
  sink.refuse(email, 451);
  const scope = { sessionSecret: owner.secret, door, merchantId };
  const { invitation } = await people.inviteMember({ ...scope, email, role: "viewer" });
  await eventually(
    "a first try",
    async () =>
      (await database.query("select 1 from mails where object_id = $1 and attempts = 1", [invitation?.id])).rowCount ===
      1,
  );
  await people.revokeInvitation({ ...scope, invitationId: invitation?.id ?? "" });
  assert.equal((await database.query("select 1 from mails where object_id = $1", [invitation?.id])).rowCount, 0);
});

test("a temporary refusal is retried, a permanent one given up, and both delete the text", async () => {
  const { operator, database } = service;
  const merchantId = await service.newMerchant();
  const [later, never] = [anEmail(), anEmail()];
  sink.refuse(later, 451);
  sink.refuse(never, 550);
  const invite = async (email: string) =>
    (await operator.inviteMember({ door, merchantId, email, role: "viewer" })).invitation?.id;
  const ids = [await invite(later), await invite(never)];
  const row = async (id: string | undefined) =>
    (
      await database.query(
        "select status, attempts, sealed, next_attempt_at > now() + interval '50 seconds' as waits from mails where object_id = $1",
        [id],
      )
    ).rows[0];
  await eventually(
    "the first tries",
    async () => (await row(ids[0])).waits && (await row(ids[1])).status === "given_up",
  );
  assert.deepEqual(await row(ids[0]).then(({ status, attempts }) => [status, attempts]), ["queued", 1]);
  assert.equal((await row(ids[1])).sealed, null);
  sink.refuse(later, undefined);
  await database.query("update mails set next_attempt_at = now() where object_id = $1", [ids[0]]);
  await sink.mailTo(later, "Invitation");
  await eventually("it is recorded", async () => (await row(ids[0])).status === "sent");
  assert.equal((await row(ids[0])).sealed, null);
});

test("an approved application invites its applicant as the owner, once", async () => {
  const { applications, signIn } = service;
  const email = anEmail();
  const fields = { legalName: "Acme Ltd", tradingName: "Acme", countryCode: "DE", currencyCode: "EUR" };
  const { application } = await applications.createApplication({ ...fields, applicantEmail: email.toUpperCase() });
  const applicationId = application?.id ?? "";
  await applications.submitApplication({ applicationId });
  const approved = await Promise.all([1, 2].map(() => applications.approveApplication({ applicationId })));
  const mail = await sink.mailTo(email, "Invitation to the console of Acme");
  const token = linkIn(mail.text);
  const { session, merchantId } = await signIn.acceptInvitation({ door, token, name: "Ada" });
  assert.deepEqual(
    approved.map((answer) => answer.application?.merchantId),
    [merchantId, merchantId],
  );
  assert.equal(session?.session?.memberships[0]?.role, "owner");
  assert.equal(sink.countTo(email), 1);
});

test("a mail is given up after its deadline", async () => {
  const { operator, database } = service;
  const email = anEmail();
  sink.refuse(email, 451);
  const { invitation } = await operator.inviteMember({
    door,
    merchantId: await service.newMerchant(),
    email,
    role: "viewer",
  });
  const status = async () =>
    (await database.query("select status, attempts from mails where object_id = $1", [invitation?.id])).rows[0];
  await eventually("a first try", async () => (await status()).attempts === 1);
  await eventually("given up", async () => {
    await database.query(
      "update mails set next_attempt_at = now(), give_up_at = now() - interval '1 second' where object_id = $1 and status = 'queued'",
      [invitation?.id],
    );
    return (await status()).status === "given_up";
  });
});

test("queued mails are encrypted", async () => {
  const { operator, database } = service;
  const email = anEmail();
  sink.refuse(email, 451);
  const { link, invitation } = await operator.inviteMember({
    door,
    merchantId: await service.newMerchant(),
    email,
    role: "viewer",
  });
  const { rows } = await database.query("select sealed, m::text as row from mails m where object_id = $1", [
    invitation?.id,
  ]);
  assert.equal(rows.length, 1);
  assert(!rows[0]?.sealed.includes(linkIn(link)) && !rows[0]?.row.includes(email));
});

test("a sign-in link works once, in the requesting browser and in time, and only allows adding a sign-in method", async () => {
  const { database } = service;
  const merchantId = await service.newMerchant();
  const { email, personId } = await service.joinMember(merchantId);
  const own = aBrowser();
  const token = await linked(email, own);
  await assert.rejects(redeem(token, aBrowser()), isRefusal("UNAUTHORIZED"), "stolen");
  await assert.rejects(redeem(token, ""), isRefusal("UNAUTHORIZED"));
  await assert.rejects(
    service.signIn.redeemSignInLink({ door: Door.OPERATORS, token, browserSecret: own }),
    isRefusal("UNAUTHORIZED"),
  );
  const { session } = await redeem(token, own);
  assert.deepEqual([session?.session?.person?.id, session?.session?.needsWayIn], [personId, true]);
  assert(session?.session?.memberships.every(({ actions }) => actions.length === 0));
  await assert.rejects(redeem(token, own), isRefusal("UNAUTHORIZED"), "twice");
  await addPasskey(service.signIn, session?.secret ?? "", new SoftwareAuthenticator(consoleOrigin));
  await sink.mailTo(email, "New sign-in method");
  const late = await linked(email, own);
  await database.query(
    "update sign_in_links set created_at = now() - interval '16 minutes', expires_at = now() - interval '1 minute' where person_id = $1",
    [personId],
  );
  await assert.rejects(redeem(late, own), isRefusal("UNAUTHORIZED"), "over");
});

test("of twenty concurrent uses of a link one begins a session", async () => {
  const { email } = await service.joinMember(await service.newMerchant());
  const own = aBrowser();
  const token = await linked(email, own);
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => redeem(token, own)));
  assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
});

test("with an authenticator app the link needs a code, and the sixth wrong code ends it", async () => {
  const { signIn } = service;
  const { email, secret } = await service.joinMember(await service.newMerchant());
  const { secret: app } = await signIn.beginAuthenticator({ sessionSecret: secret });
  const code = (step: number) =>
    new TOTP({ secret: Secret.fromBase32(app) }).generate({ timestamp: Date.now() + step * 30_000 });
  await signIn.finishAuthenticator({ sessionSecret: secret, code: code(-1) });
  const own = aBrowser();
  const token = await linked(email, own);
  await assert.rejects(redeem(token, own), isRefusal("INVALID_BODY", "code"), "none given");
  const near = [-1, 0, 1].map(code);
  const wrong = ["000000", "111111", "222222", "333333"].find((one) => !near.includes(one)) ?? "";
  await assert.rejects(redeem(token, own, wrong), isRefusal("INVALID_BODY", "code"));
  const { session } = await redeem(token, own, code(0));
  assert.equal(session?.session?.needsWayIn, false);
  assert(session?.session?.provedUntil);
  const other = await linked(email, own);
  for (let i = 0; i < 6; i++) await assert.rejects(redeem(other, own, wrong), isRefusal("INVALID_BODY", "code"));
  await assert.rejects(redeem(other, own, code(1)), isRefusal("UNAUTHORIZED"));
});

test("strangers who use up the hourly links do not lock out a browser that has used one", async () => {
  const { email } = await service.joinMember(await service.newMerchant());
  const own = aBrowser();
  await redeem(await linked(email, own), own);
  for (let n = 0; n < 6; n++)
    await service.signIn.requestSignInLink({ door, email, browserSecret: aBrowser(), browser });
  await eventually("the links that strangers may request", () => linksTo(email).length === 5);
  const { session } = await redeem(await linked(email, own), own);
  assert.ok(session?.secret);
  for (let n = 0; n < 6; n++) await service.signIn.requestSignInLink({ door, email, browserSecret: own, browser });
  await eventually("five of its own within the hour", () => linksTo(email).length === 9);
  await service.signIn.requestSignInLink({ door, email, browserSecret: aBrowser(), browser });
  const { rows } = await service.database.query(
    "select count(*)::int as n from sign_in_links where person_id = (select id from persons where email = $1)",
    [email],
  );
  assert.equal(rows[0].n, 9);
});

test("a request for a link reveals no account: unknown addresses get the same answer, rows and hourly limit", async () => {
  const { signIn, database } = service;
  const known = await service.joinMember(await service.newMerchant());
  const rows = async () => {
    const counts =
      "select (select count(*) from sign_in_links)::int as links, (select count(*) from mails)::int as mails";
    return (await database.query(counts)).rows[0];
  };
  for (const email of [known.email, anEmail()]) {
    const before = await rows();
    for (let i = 0; i < 8; i++)
      assert.deepEqual(
        { ...(await signIn.requestSignInLink({ door, email, browserSecret: aBrowser() })) }.$unknown,
        undefined,
      );
    const after = await rows();
    assert.deepEqual(
      [after.links - before.links, after.mails - before.mails],
      [5, 5],
      email === known.email ? "known" : "unknown",
    );
  }
  const many = Array.from({ length: 20 }, () =>
    signIn.requestSignInLink({ door, email: "crowd@shop.example", browserSecret: aBrowser() }),
  );
  const before = await rows();
  await Promise.all(many);
  assert((await rows()).links - before.links <= 5);
  await eventually("no more than five mails", () => linksTo(known.email).length === 5);
  const operators = { door: Door.OPERATORS, email: known.email, browserSecret: aBrowser() };
  await signIn.requestSignInLink(operators);
  const { rows: links } = await database.query("select person_id from sign_in_links where door = 'operators'");
  assert.deepEqual(links, [{ person_id: null }], "no person of that console");
});

test("a proof of the mailbox ends the sign-in methods that another person had set up for the address", async () => {
  const { people, signIn, database } = service;
  const merchantId = await service.newMerchant();
  const eve = await service.joinMember(merchantId);
  const email = anEmail();
  const { invitation } = await people.inviteMember({
    sessionSecret: eve.secret,
    door,
    merchantId,
    email,
    role: "viewer",
  });
  // As if no mail could be sent, so that the inviter saw the link.
  await database.query("update invitations set by_mail_only = false where id = $1", [invitation?.id]);
  const mail = await sink.mailTo(email, "Invitation");
  const begun = await signIn.acceptInvitation({ door, token: linkIn(mail.text), name: "Not Bob" });
  const eves = new SoftwareAuthenticator(consoleOrigin);
  const secret = await addPasskey(signIn, begun.session?.secret ?? "", eves);
  const own = aBrowser();
  const { session } = await redeem(await linked(email, own), own);
  assert.equal(session?.session?.person?.id, begun.session?.session?.person?.id);
  await assert.rejects(signIn.getSession({ door, sessionSecret: secret }), isRefusal("UNAUTHORIZED"));
  await assert.rejects(signedIn(signIn, eves), isRefusal("UNAUTHORIZED"));
});

test("a sign-in from another browser is notified, from a new version of the same one it is not", async () => {
  const { signIn } = service;
  const { email, passkey } = await service.joinMember(await service.newMerchant());
  const from = async (agent: string) => {
    const { challengeId, optionsJson } = await signIn.beginPasskeySignIn({ door });
    const responseJson = passkey.assert(optionsJson);
    await signIn.finishPasskeySignIn({ door, challengeId, responseJson, browser: { address: "198.51.100.9", agent } });
  };
  await from("Test/2");
  await from("Firefox/1 (X11; Linux)");
  const mail = await sink.mailTo(email, "Sign-in from a new browser");
  assert(mail.text?.includes("198.51.100.9") && mail.text.includes("Firefox, Linux"));
  await from("Firefox/2 (X11; Linux)");
  await from("Opera OPR/1 (Macintosh)");
  await eventually(
    "the third browser's mail",
    () =>
      sink.mails.filter(
        ({ text, to }) =>
          [to].flat()[0]?.text === email && text?.includes("new browser") === false && text.includes("Opera, macOS"),
      ).length === 1,
  );
  assert.equal(sink.countTo(email), 3, "the invitation, and two browsers");
});

test.run();
