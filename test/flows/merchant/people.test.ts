// Invitations, passkeys and sessions of the consoles, over RPC on a fresh database. Each forgery is refused: a reused
// link or challenge, another site, a copied passkey, the other console, an ended session.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { SoftwareAuthenticator } from "../../harness/software-authenticator.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";
import { isRefusal } from "../service-config.ts";
import {
  addPasskey,
  anEmail,
  consoleOrigin,
  onBehalf,
  operatorsOrigin,
  signedIn,
  startPeopleOverRpc,
  tokenOf,
} from "./people-over-rpc.ts";

const test = suite("people of the merchant service");
const door = Door.MERCHANTS;
const browser = { address: "203.0.113.7", agent: "Test/1" };

const service = fixture(test, () => startPeopleOverRpc());

test("an invited person joins with a passkey and has the rights of the role", async () => {
  const { signIn, operator, announced } = service;
  const merchantId = await service.newMerchant();
  const email = anEmail();
  const input = { door, merchantId, email: ` ${email.toUpperCase()}`.trim(), role: "support" };
  const limit = { amount: 5_000n, currency: "EUR" };
  const { invitation, link } = await operator.inviteMember({ ...input, refundLimit: limit });
  assert(link.startsWith(`${consoleOrigin}/invitations/`));
  const token = link.slice(link.lastIndexOf("/") + 1);
  const offered = await signIn.getInvitation({ door, token });
  assert.deepEqual(
    [offered.email, offered.merchantName, offered.role, offered.isKnown],
    [email, "Acme", "support", false],
  );
  const { session: begun, merchantId: joined } = await signIn.acceptInvitation({
    door,
    token,
    name: " Ada  L. ",
    browser,
  });
  assert.equal(joined, merchantId);
  assert.equal(begun?.session?.needsWayIn, true);
  assert.deepEqual(begun?.session?.memberships[0]?.actions, [], "nothing before a sign-in method exists");
  const secret = await addPasskey(signIn, begun?.secret ?? "", new SoftwareAuthenticator(consoleOrigin));
  const { session } = await signIn.getSession({ door, sessionSecret: secret });
  assert.deepEqual([session?.needsWayIn, session?.hasPasskey, session?.hasAuthenticator], [false, true, false]);
  assert.deepEqual([session?.person?.name, session?.person?.email], ["Ada L.", email]);
  assert(session?.provedUntil);
  const [membership] = session?.memberships ?? [];
  assert.deepEqual(
    [membership?.merchantId, membership?.merchantName, membership?.role],
    [merchantId, "Acme", "support"],
  );
  assert.deepEqual(membership?.refundLimit?.amount, 5_000n);
  const { roles } = await service.people.listRoles({ door });
  assert.deepEqual(membership?.actions, roles.find(({ name }) => name === "support")?.actions);
  const personId = session?.person?.id ?? "";
  const joinedEvent = await announced.event("member.joined", personId);
  assert.deepEqual(
    [joinedEvent.actor, joinedEvent.merchantId, joinedEvent.attributes.role],
    [personId, merchantId, "support"],
  );
  assert.equal((await announced.event("member.invited", invitation?.id ?? "")).attributes.email, email);
});

test("of twenty concurrent acceptances of an invitation one succeeds", async () => {
  const merchantId = await service.newMerchant();
  const token = await service.issueInvitation(merchantId);
  const accept = () => service.signIn.acceptInvitation({ door, token, name: "Ada", browser });
  const answers = await Promise.allSettled(Array.from({ length: 20 }, accept));
  const [failed, ok] = [
    answers.filter(({ status }) => status === "rejected"),
    answers.filter(({ status }) => status === "fulfilled"),
  ];
  assert.equal(ok.length, 1);
  assert(failed.every((answer) => answer.status === "rejected" && isRefusal("NOT_FOUND")(answer.reason)));
  const { rows } = await service.database.query("select 1 from memberships where merchant_id = $1", [merchantId]);
  assert.equal(rows.length, 1);
});

test("an invitation works at its own console until it is replaced or expires, and opens no existing access", async () => {
  const { signIn, database } = service;
  const merchantId = await service.newMerchant();
  const email = anEmail();
  const former = await service.issueInvitation(merchantId, { email });
  await assert.rejects(signIn.getInvitation({ door: Door.OPERATORS, token: former }), isRefusal("NOT_FOUND"));
  const token = await service.issueInvitation(merchantId, { email });
  await assert.rejects(signIn.acceptInvitation({ door, token: former, name: "Ada" }), isRefusal("NOT_FOUND"));
  await database.query(
    "update invitations set expires_at = now() - interval '1 second', created_at = now() - interval '8 days' where email = $1",
    [email],
  );
  await assert.rejects(signIn.getInvitation({ door, token }), isRefusal("NOT_FOUND"));
  await assert.rejects(signIn.acceptInvitation({ door, token, name: "Ada" }), isRefusal("NOT_FOUND"));

  const ada = await service.joinMember(merchantId);
  const elsewhere = await service.issueInvitation(await service.newMerchant(), { email: ada.email });
  assert.equal((await signIn.getInvitation({ door, token: elsewhere })).isKnown, true);
  await assert.rejects(signIn.acceptInvitation({ door, token: elsewhere, name: "Eve" }), isRefusal("FORBIDDEN"));
  const bob = await service.joinMember(merchantId);
  const asBob = { door, token: elsewhere, sessionSecret: bob.secret };
  await assert.rejects(signIn.acceptInvitation(asBob), isRefusal("FORBIDDEN"));
  const { session } = await signIn.acceptInvitation({ ...asBob, sessionSecret: ada.secret });
  assert.deepEqual([session?.secret, session?.session?.memberships.length], ["", 2]);
});

test("an inviter cannot become a person who is invited elsewhere too, also before that person can sign in", async () => {
  const { signIn } = service;
  const [first, second] = [await service.newMerchant(), await service.newMerchant()];
  const email = anEmail();
  await signIn.acceptInvitation({ door, token: await service.issueInvitation(first, { email }), name: "Ada" });
  const eve = await service.joinMember(second);
  const input = { sessionSecret: eve.secret, door, merchantId: second, email, role: "viewer" };
  const { link } = await service.people.inviteMember(input);
  await assert.rejects(signIn.acceptInvitation({ door, token: tokenOf(link), name: "Eve" }), isRefusal("FORBIDDEN"));
  const again = await signIn.acceptInvitation({
    door,
    token: await service.issueInvitation(first, { email }),
    name: "Ada",
  });
  assert.equal(again.session?.session?.needsWayIn, true, "a lost first session can be replaced");
});

test("a passkey signs in at its console; replayed, foreign and unverified assertions are refused", async () => {
  const { signIn, announced } = service;
  const merchantId = await service.newMerchant();
  const { passkey, personId } = await service.joinMember(merchantId);
  const begin = () => signIn.beginPasskeySignIn({ door });
  const finish = (challengeId: string, responseJson: string, at: Door = door) =>
    signIn.finishPasskeySignIn({ door: at, challengeId, responseJson, browser });

  const { challengeId, optionsJson } = await begin();
  const answer = passkey.assert(optionsJson);
  const { session } = await finish(challengeId, answer);
  assert.equal(session?.session?.person?.id, personId);
  const event = await announced.event("person.signed_in", personId);
  assert.deepEqual([event.actor, event.merchantId, event.attributes.by], [personId, merchantId, "passkey"]);
  await assert.rejects(finish(challengeId, answer), isRefusal("UNAUTHORIZED"), "replayed");

  const forgeries = [
    { origin: "https://console.shop.example.evil.example" },
    { origin: operatorsOrigin },
    { rpId: "evil.example" },
    { isVerified: false },
    { userHandle: Buffer.from("usr_0").toString("base64url") },
  ];
  for (const forgery of forgeries) {
    const challenge = await begin();
    await assert.rejects(
      finish(challenge.challengeId, passkey.assert(challenge.optionsJson, forgery)),
      isRefusal("UNAUTHORIZED"),
    );
  }
  const [one, other] = [await begin(), await begin()];
  await assert.rejects(finish(one.challengeId, passkey.assert(other.optionsJson)), isRefusal("UNAUTHORIZED"));
  await assert.rejects(
    finish(one.challengeId, passkey.assert(one.optionsJson)),
    isRefusal("UNAUTHORIZED"),
    "used by the forgery",
  );
  const atOther = await signIn.beginPasskeySignIn({ door: Door.OPERATORS });
  const there = passkey.assert(atOther.optionsJson, { origin: operatorsOrigin });
  await assert.rejects(finish(atOther.challengeId, there, Door.OPERATORS), isRefusal("UNAUTHORIZED"));
  const stranger = new SoftwareAuthenticator(consoleOrigin);
  const challenge = await begin();
  await assert.rejects(
    finish(challenge.challengeId, stranger.assert(challenge.optionsJson)),
    isRefusal("UNAUTHORIZED"),
  );
  for (const junk of ["{", "[]", "{}", '{"id":"a","rawId":"a","response":{}}']) {
    await assert.rejects(finish((await begin()).challengeId, junk), isRefusal("UNAUTHORIZED"));
  }
});

test("a challenge expires after five minutes by the database's clock", async () => {
  const { signIn, database } = service;
  const { passkey } = await service.joinMember(await service.newMerchant());
  const { challengeId, optionsJson } = await signIn.beginPasskeySignIn({ door });
  await database.query("update passkey_challenges set expires_at = now() - interval '1 second' where id = $1", [
    challengeId,
  ]);
  const answer = { door, challengeId, responseJson: passkey.assert(optionsJson) };
  await assert.rejects(signIn.finishPasskeySignIn(answer), isRefusal("UNAUTHORIZED"));
});

test("a passkey whose counter does not increase is refused as a copy", async () => {
  const { signIn } = service;
  const { passkey } = await service.joinMember(await service.newMerchant());
  passkey.counter = 10;
  await signedIn(signIn, passkey);
  for (const counter of [11, 5, 0]) {
    const { challengeId, optionsJson } = await signIn.beginPasskeySignIn({ door });
    const responseJson = passkey.assert(optionsJson, { counter });
    await assert.rejects(signIn.finishPasskeySignIn({ door, challengeId, responseJson }), isRefusal("UNAUTHORIZED"));
  }
  passkey.counter = 11;
  await signedIn(signIn, passkey);
});

test("a session gets a new secret when it becomes full, and the old one is refused", async () => {
  const { signIn } = service;
  const token = await service.issueInvitation(await service.newMerchant());
  const { session } = await signIn.acceptInvitation({ door, token, name: "Ada" });
  const old = session?.secret ?? "";
  const secret = await addPasskey(signIn, old, new SoftwareAuthenticator(consoleOrigin));
  assert.notEqual(secret, old);
  await assert.rejects(signIn.getSession({ door, sessionSecret: old }), isRefusal("UNAUTHORIZED"));
  assert.equal((await signIn.getSession({ door, sessionSecret: secret })).session?.id, session?.session?.id);
});

test("adding a passkey needs a fresh proof, unless the person has none", async () => {
  const { signIn, database } = service;
  const { secret, passkey, personId } = await service.joinMember(await service.newMerchant());
  await assert.rejects(addPasskey(signIn, secret, passkey), isRefusal("INVALID_BODY", "response_json"));
  const again = await addPasskey(signIn, secret, new SoftwareAuthenticator(consoleOrigin));
  await database.query(
    "update console_sessions set proved_at = now() - interval '5 minutes 1 second' where person_id = $1",
    [personId],
  );
  await assert.rejects(signIn.beginPasskey({ sessionSecret: again }), isRefusal("FORBIDDEN"));
  const { challengeId, optionsJson } = await signIn.beginPasskeySignIn({ door });
  const responseJson = new SoftwareAuthenticator(consoleOrigin).register(optionsJson);
  const input = { sessionSecret: again, challengeId, responseJson };
  await assert.rejects(signIn.finishPasskey(input), isRefusal("FORBIDDEN"));
});

test("a session ends after half an hour idle or twelve hours in total, and its use is stored by the minute", async () => {
  const { signIn, database } = service;
  const { secret: sessionSecret, personId } = await service.joinMember(await service.newMerchant());
  const readSession = () => signIn.getSession({ door, sessionSecret });
  const set = (what: string) => database.query(`update console_sessions set ${what} where person_id = $1`, [personId]);
  const used = async () =>
    (await database.query("select last_used_at as at from console_sessions where person_id = $1", [personId])).rows[0]
      ?.at;
  const first = await used();
  await readSession();
  assert.deepEqual(await used(), first, "no write within the minute");
  await set("last_used_at = now() - interval '29 minutes'");
  await readSession();
  assert(Date.now() - (await used()).getTime() < 60_000);
  await set("last_used_at = now() - interval '30 minutes 1 second'");
  await assert.rejects(readSession(), isRefusal("UNAUTHORIZED"));
  await set("last_used_at = now(), created_at = now() - interval '13 hours', expires_at = now() - interval '1 second'");
  await assert.rejects(readSession(), isRefusal("UNAUTHORIZED"));
});

test("a session is refused at the other console, after its end, and with a similar secret", async () => {
  const { signIn, announced } = service;
  const { secret: sessionSecret } = await service.joinMember(await service.newMerchant());
  await assert.rejects(signIn.getSession({ door: Door.OPERATORS, sessionSecret }), isRefusal("UNAUTHORIZED"));
  for (const other of [
    "x",
    sessionSecret.slice(0, -1),
    `${sessionSecret.slice(0, -1)}_`,
    sessionSecret.toUpperCase(),
  ]) {
    await assert.rejects(signIn.getSession({ door, sessionSecret: other }), isRefusal("UNAUTHORIZED"));
  }
  const { session } = await signIn.getSession({ door, sessionSecret });
  await signIn.signOut({ sessionSecret });
  await signIn.signOut({ sessionSecret });
  await assert.rejects(signIn.getSession({ door, sessionSecret }), isRefusal("UNAUTHORIZED"));
  assert.equal((await announced.event("session.ended", session?.id ?? "")).actor, session?.person?.id);
});

test("secrets are stored as hashes only", async () => {
  const { database } = service;
  const merchantId = await service.newMerchant();
  const token = await service.issueInvitation(merchantId);
  const { secret } = await service.joinMember(merchantId);
  for (const table of ["invitations", "console_sessions", "outbox"]) {
    const { rows } = await database.query(`select t::text as row from ${table} t`);
    for (const text of [token, secret]) {
      const bytes = Buffer.from(text).toString("hex");
      assert(
        rows.every(({ row }) => !row.includes(text) && !row.includes(bytes)),
        table,
      );
    }
  }
});

test("managing people needs a session, or an operator's command; a console's actor name does not count", async () => {
  const { people, operator } = service;
  const merchantId = await service.newMerchant();
  const input = { door, merchantId, email: anEmail(), role: "viewer" };
  await assert.rejects(people.inviteMember(input), isRefusal("UNAUTHORIZED"));
  // Consoles may not call it at all (access.v1), so the error is internal.
  await assert.rejects(people.resetAccess({ door, merchantId, personId: "usr_1" }), isRefusal("INTERNAL_ERROR"));
  await assert.rejects(
    onBehalf("operator", () => people.inviteMember(input)),
    isRefusal("UNAUTHORIZED"),
  );
  await operator.inviteMember(input);
});

test("refuses to give a role above one's own, a role of the other console, or a limit that the role lacks", async () => {
  const { people, operator, announced } = service;
  const merchantId = await service.newMerchant();
  const admin = await service.joinMember(merchantId, { role: "admin" });
  const inputFor = (role: string) => ({ sessionSecret: admin.secret, door, merchantId, email: anEmail(), role });
  await assert.rejects(people.inviteMember(inputFor("owner")), isRefusal("FORBIDDEN"));
  const { invitation } = await people.inviteMember(inputFor("admin"));
  assert.equal(invitation?.inviterName, "Ada");
  assert.equal((await announced.event("member.invited", invitation?.id ?? "")).actor, admin.personId);
  await assert.rejects(people.inviteMember(inputFor("auditor")), isRefusal("INVALID_BODY", "role"));
  const limited = { ...inputFor("viewer"), refundLimit: { amount: 1n, currency: "EUR" } };
  await assert.rejects(people.inviteMember(limited), isRefusal("INVALID_BODY", "refund_limit"));
  await assert.rejects(
    people.inviteMember({ ...inputFor("viewer"), email: admin.email }),
    isRefusal("INVALID_BODY", "email"),
  );
  await assert.rejects(people.inviteMember({ ...inputFor("viewer"), email: "no" }), isRefusal("INVALID_BODY", "email"));
  await assert.rejects(
    people.inviteMember({ ...inputFor("viewer"), merchantId: await service.newMerchant() }),
    isRefusal("NOT_FOUND"),
  );
  await assert.rejects(
    operator.inviteMember({ ...inputFor("viewer"), sessionSecret: "", merchantId: "" }),
    isRefusal("INVALID_BODY", "merchant_id"),
  );
});

test("an operator manages merchants' people; a merchant's owner cannot manage operators", async () => {
  const { people } = service;
  const merchantId = await service.newMerchant();
  const [operator, auditor] = [
    await service.joinMember("", { door: Door.OPERATORS, role: "operator" }),
    await service.joinMember("", { door: Door.OPERATORS, role: "auditor" }),
  ];
  const input = { door, merchantId, email: anEmail(), role: "owner" };
  await people.inviteMember({ ...input, sessionSecret: operator.secret });
  await assert.rejects(people.inviteMember({ ...input, sessionSecret: auditor.secret }), isRefusal("FORBIDDEN"));
  const owner = await service.joinMember(merchantId);
  const above = { ...input, door: Door.OPERATORS, merchantId: "", role: "auditor" };
  await assert.rejects(people.inviteMember({ ...above, sessionSecret: owner.secret }), isRefusal("UNAUTHORIZED"));
  await assert.rejects(people.inviteMember({ ...above, sessionSecret: operator.secret }), isRefusal("FORBIDDEN"));
});

test("operators' commands invite, list, reset and remove a member", async () => {
  const merchantId = await service.newMerchant();
  const email = anEmail();
  const dir = await tempDir("people");
  const tokenFile = join(dir, "token");
  writeFileSync(tokenFile, service.operatorToken);
  const { url } = service;
  const urls = { CHECKOUT_URL: url, PAYMENTS_URL: url, MERCHANT_URL: url, WEBHOOK_URL: url };
  const env = { ...process.env, ...urls, RPC_TOKEN_FILE: tokenFile };
  const script = join(import.meta.dirname, "../../../deploy/cli/main.ts");
  const command = async (...words: string[]): Promise<Record<string, unknown>[]> => {
    const run = await promisify(execFile)(process.execPath, [script, "console", ...words, "--json"], { env });
    return JSON.parse(run.stdout);
  };
  try {
    const [invited] = await command("invite", email, "--merchant", merchantId);
    const token = tokenOf(String(invited?.link));
    const { session } = await service.signIn.acceptInvitation({ door, token, name: "Ada", browser });
    assert.equal(session?.session?.memberships[0]?.role, "owner");
    const [listed] = await command("members", "--merchant", merchantId);
    assert.deepEqual([listed?.email, listed?.role, listed?.signs_in_by], [email, "owner", []]);
    const secret = session?.secret ?? "";
    const passkey = new SoftwareAuthenticator(consoleOrigin);
    const sessionSecret = await addPasskey(service.signIn, secret, passkey);
    const [reset] = await command("reset", email.toUpperCase(), "--merchant", merchantId);
    assert.deepEqual([reset?.email, reset?.role, reset?.signs_in_by], [email, "owner", []]);
    await assert.rejects(service.signIn.getSession({ door, sessionSecret }), isRefusal("UNAUTHORIZED"));
    await assert.rejects(signedIn(service.signIn, passkey), isRefusal("UNAUTHORIZED"), "the lost passkey");
    const again = { door, token: tokenOf(String(reset?.link)), name: "", browser };
    const renewed = (await service.signIn.acceptInvitation(again)).session;
    assert.equal(renewed?.session?.person?.id, session?.session?.person?.id, "the same person with the same role");
    assert.deepEqual(renewed?.session?.memberships[0]?.role, "owner");
    await assert.rejects(command("reset", anEmail(), "--merchant", merchantId), /no member has this address/);
    await command("remove", email.toUpperCase(), "--merchant", merchantId);
    assert.deepEqual(await command("members", "--merchant", merchantId), []);
    await assert.rejects(command("members"), /either --merchant/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("a console without an origin is disabled", async () => {
  const closed = await startPeopleOverRpc({ OPERATORS_CONSOLE_ORIGIN: undefined });
  try {
    const at = { door: Door.OPERATORS };
    await assert.rejects(closed.signIn.beginPasskeySignIn(at), isRefusal("FEATURE_DISABLED"));
    await assert.rejects(
      closed.operator.inviteMember({ ...at, email: anEmail(), role: "owner" }),
      isRefusal("FEATURE_DISABLED"),
    );
  } finally {
    await closed.stop();
  }
});

test.run();
