// People's own access: authenticator codes work once, the last sign-in method stays, sessions can be ended. Over RPC on
// a fresh database.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { Vault } from "#platform/secrets/vault.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { reencryptColumn } from "../../../deploy/cli/setup/reencrypt-column.ts";
import { sealedColumns } from "../../../services/services.ts";
import { openDatabase } from "../../harness/database.ts";
import { SoftwareAuthenticator } from "../../harness/software-authenticator.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { addPasskey, consoleOrigin, signedIn, startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("people's own access", { timeoutMs: 60_000 });
const door = Door.MERCHANTS;
const old = randomBytes(32);

const service = fixture(test, () => startPeopleOverRpc({ ENCRYPTION_KEYS: new Map([["k1", old]]) }));

/** The app's code. @param steps how many later */
function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
}

const wrongCode = (secret: string) => {
  const near = [-2, -1, 0, 1, 2].map((step) => codeOf(secret, step));
  return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !near.includes(code)) ?? "";
};

/** Adds an app. @returns the app's secret and the session's new secret */
async function withApp(sessionSecret: string): Promise<{ app: string; sessionSecret: string }> {
  const { secret: app, uri } = await service.signIn.beginAuthenticator({ sessionSecret });
  assert(uri.startsWith("otpauth://totp/Tollbooth"));
  // The previous step, so that the current code is unused.
  const { session } = await service.signIn.finishAuthenticator({ sessionSecret, code: codeOf(app, -1) });
  assert(session?.session?.hasAuthenticator);
  assert.notEqual(session.secret, sessionSecret);
  return { app, sessionSecret: session.secret };
}

test("an authenticator app completes and proves a session, and no code works twice", async () => {
  const { signIn } = service;
  const token = await service.issueInvitation(await service.newMerchant());
  const { session } = await signIn.acceptInvitation({ door, token, name: "Ada" });
  const { secret: app } = await signIn.beginAuthenticator({ sessionSecret: session?.secret ?? "" });
  const begun = { sessionSecret: session?.secret ?? "" };
  await assert.rejects(
    signIn.finishAuthenticator({ ...begun, code: wrongCode(app) }),
    isRefusal("INVALID_BODY", "code"),
  );
  const done = await signIn.finishAuthenticator({ ...begun, code: codeOf(app, -1) });
  const sessionSecret = done.session?.secret ?? "";
  assert.equal(done.session?.session?.needsWayIn, false);
  assert.deepEqual(await signIn.beginProof({ sessionSecret }).then((p) => [p.challengeId, p.takesCode]), ["", true]);
  await assert.rejects(signIn.finishProof({ sessionSecret, code: codeOf(app, -1) }), isRefusal("INVALID_BODY", "code"));
  const code = codeOf(app);
  assert(
    (await signIn.finishProof({ sessionSecret, code: ` ${code.slice(0, 3)} ${code.slice(3)}` })).session?.provedUntil,
  );
  await assert.rejects(signIn.finishProof({ sessionSecret, code }), isRefusal("INVALID_BODY", "code"), "replayed");
});

test("of four concurrent uses of one code one is accepted", async () => {
  const { secret } = await service.joinMember(await service.newMerchant());
  const { app, sessionSecret } = await withApp(secret);
  const other = await Promise.all(
    Array.from({ length: 4 }, () =>
      service.signIn.finishProof({ sessionSecret, code: codeOf(app) }).then(
        () => 1,
        () => 0,
      ),
    ),
  );
  assert.equal(
    other.reduce((sum: number, one) => sum + one, 0),
    1,
  );
});

test("the sixth wrong code ends the session", async () => {
  const { signIn, announced } = service;
  const { secret } = await service.joinMember(await service.newMerchant());
  const { app, sessionSecret } = await withApp(secret);
  const { session } = await signIn.getSession({ door, sessionSecret });
  const code = wrongCode(app);
  for (let i = 0; i < 5; i++)
    await assert.rejects(signIn.finishProof({ sessionSecret, code }), isRefusal("INVALID_BODY", "code"));
  await signIn.getSession({ door, sessionSecret });
  await assert.rejects(signIn.finishProof({ sessionSecret, code }), isRefusal("INVALID_BODY", "code"));
  await assert.rejects(signIn.getSession({ door, sessionSecret }), isRefusal("UNAUTHORIZED"));
  assert.equal((await announced.event("session.ended", session?.id ?? "")).attributes.why, "wrong codes");
});

test("after ten wrong codes within a day every code of the account is refused in all sessions", async () => {
  const { signIn, database } = service;
  const { secret, passkey, personId } = await service.joinMember(await service.newMerchant());
  const { app } = await withApp(secret);
  for (let round = 0; round < 2; round++) {
    const { secret: sessionSecret } = await signedIn(signIn, passkey);
    const code = wrongCode(app);
    for (let i = 0; i < 5; i++)
      await assert.rejects(signIn.finishProof({ sessionSecret, code }), isRefusal("INVALID_BODY"));
  }
  const { secret: sessionSecret } = await signedIn(signIn, passkey);
  await assert.rejects(signIn.finishProof({ sessionSecret, code: codeOf(app) }), isRefusal("INVALID_BODY", "code"));
  await database.query("update authenticators set failures_since = now() - interval '25 hours' where person_id = $1", [
    personId,
  ]);
  await signIn.finishProof({ sessionSecret, code: codeOf(app) });
});

test("a replacement app works from its first code on, and the former one until then", async () => {
  const { signIn } = service;
  const { secret } = await service.joinMember(await service.newMerchant());
  const first = await withApp(secret);
  const { secret: second } = await signIn.beginAuthenticator({ sessionSecret: first.sessionSecret });
  await assert.rejects(signIn.finishProof({ ...first, code: codeOf(second) }), isRefusal("INVALID_BODY", "code"));
  await signIn.finishProof({ ...first, code: codeOf(first.app) });
  const { session } = await signIn.finishAuthenticator({ ...first, code: codeOf(second) });
  const now = { sessionSecret: session?.secret ?? "" };
  await assert.rejects(signIn.finishProof({ ...now, code: codeOf(first.app, 1) }), isRefusal("INVALID_BODY", "code"));
  await signIn.finishProof({ ...now, code: codeOf(second, 1) });
});

test("removing a sign-in method needs a proof, and the last one stays, also under concurrent removals", async () => {
  const { signIn, database } = service;
  const { secret, personId } = await service.joinMember(await service.newMerchant());
  const sessionSecret = await addPasskey(signIn, secret, new SoftwareAuthenticator(consoleOrigin));
  const { passkeys } = await signIn.getOwnAccess({ sessionSecret });
  assert.deepEqual(
    passkeys.map(({ name }) => name),
    ["laptop", "laptop"],
  );
  const stranger = await service.joinMember(await service.newMerchant());
  const [first] = passkeys;
  await assert.rejects(
    signIn.removeWayIn({ sessionSecret: stranger.secret, passkeyId: first?.id ?? "" }),
    isRefusal("NOT_FOUND"),
  );
  const both = await Promise.allSettled(passkeys.map(({ id }) => signIn.removeWayIn({ sessionSecret, passkeyId: id })));
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const [left] = (await signIn.getOwnAccess({ sessionSecret })).passkeys;
  await assert.rejects(signIn.removeWayIn({ sessionSecret, passkeyId: left?.id ?? "" }), isRefusal("FORBIDDEN"));
  const app = await withApp(sessionSecret);
  const input = { sessionSecret: app.sessionSecret, passkeyId: left?.id ?? "" };
  await assert.rejects(signIn.removeWayIn(input), isRefusal("FORBIDDEN"), "an app alone needs a mailed link");
  await signIn.removeWayIn({ sessionSecret: app.sessionSecret });
  await database.query("update console_sessions set proved_at = null where person_id = $1", [personId]);
  await assert.rejects(signIn.removeWayIn(input), isRefusal("FORBIDDEN"));
});

test("people see their open sessions and can end them, but not another person's", async () => {
  const { signIn } = service;
  const { secret, passkey, personId } = await service.joinMember(await service.newMerchant());
  const others = [await signedIn(signIn, passkey), await signedIn(signIn, passkey)];
  const seen = async () => (await signIn.getOwnAccess({ sessionSecret: secret })).sessions;
  assert.deepEqual((await seen()).map(({ isOwn, browser }) => [isOwn, browser?.agent]).sort(), [
    [false, "Test/1"],
    [false, "Test/1"],
    [true, "Test/1"],
  ]);
  const stranger = await service.joinMember(await service.newMerchant());
  const own = (await seen()).find(({ isOwn }) => isOwn)?.id ?? "";
  await assert.rejects(signIn.endSessions({ sessionSecret: stranger.secret, sessionId: own }), isRefusal("NOT_FOUND"));
  await signIn.endSessions({ sessionSecret: secret, sessionId: others[0]?.session?.id ?? "" });
  const ended = { door, sessionSecret: others[0]?.secret ?? "" };
  await assert.rejects(signIn.getSession(ended), isRefusal("UNAUTHORIZED"));
  await signIn.endSessions({ sessionSecret: secret });
  assert.deepEqual(
    (await seen()).map(({ id }) => id),
    [own],
  );
  assert.equal((await signIn.getSession({ door, sessionSecret: secret })).session?.person?.id, personId);
});

test("a name is one clean line, and absent fields stay unchanged", async () => {
  const { signIn } = service;
  const { secret: sessionSecret } = await service.joinMember(await service.newMerchant());
  const { person } = await signIn.updatePerson({ sessionSecret, name: " Ada\n\u202eLove  lace " });
  assert.deepEqual([person?.name, person?.language], ["Ada Love lace", ""]);
  assert.equal((await signIn.updatePerson({ sessionSecret, language: "de" })).person?.name, "Ada Love lace");
  await assert.rejects(signIn.updatePerson({ sessionSecret, name: "\u0007" }), isRefusal("INVALID_BODY", "name"));
  assert.equal((await signIn.getSession({ door, sessionSecret })).session?.person?.language, "de");
});

test("an app's secret is encrypted, and a key rotation re-encrypts it", async () => {
  const { database } = service;
  const { secret } = await service.joinMember(await service.newMerchant());
  const { app } = await withApp(secret);
  const bytes = Buffer.from(Secret.fromBase32(app).buffer);
  const { rows } = await database.query("select secret from authenticators where secret is not null");
  assert(rows.length > 0 && rows.every((row) => !row.secret.includes(bytes)));
  const column = sealedColumns.merchant.find(({ table, column }) => table === "authenticators" && column === "secret");
  assert(column);
  const db = await openDatabase(service.databaseUrl);
  try {
    const fresh = new Map([["k2", randomBytes(32)]]);
    const both = new Vault(new Map([...fresh, ["k1", old]]));
    assert.equal(await reencryptColumn(db, both, column), rows.length);
    assert.equal(await reencryptColumn(db, new Vault(fresh), column), 0);
  } finally {
    await db.close();
  }
});

test.run();
