// Rights over people: the table of rights for every role, the last owner, proofs, and what members see of each other.
// Over RPC on a fresh database.
import assert from "node:assert/strict";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { anEmail, type SignedIn, startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("rights of people", { timeoutMs: 60_000 });
const door = Door.MERCHANTS;

const service = fixture(test, () => startPeopleOverRpc());

/** "done", or the reason of the refusal. */
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error) => error.reason ?? String(error),
  );

for (const [name, at] of [
  ["merchants", Door.MERCHANTS],
  ["operators", Door.OPERATORS],
] as const) {
  test(`at the ${name}' console every role can manage people exactly as its table allows`, async () => {
    const { people } = service;
    const { roles, actions } = await people.listRoles({ door: at });
    assert(roles.every((role) => role.actions.every((action) => actions.includes(action))));
    const merchantId = at === Door.MERCHANTS ? await service.newMerchant() : "";
    const least = roles.at(-1)?.name ?? "";
    for (const role of roles) {
      const { secret: sessionSecret } = await service.joinMember(merchantId, { role: role.name, door: at });
      const victim = await service.joinMember(merchantId, { role: least, door: at });
      const scope = { sessionSecret, door: at, merchantId };
      const may = (action: string) => (role.actions.includes(action) ? "done" : "FORBIDDEN");
      assert.equal(await outcome(people.listMembers(scope)), may("team.read"), `${role.name} lists`);
      const write = may("team.write");
      const email = anEmail();
      assert.equal(await outcome(people.inviteMember({ ...scope, email, role: least })), write, `${role.name} invites`);
      const open = await service.operator.inviteMember({ door: at, merchantId, email: anEmail(), role: least });
      const invitationId = open.invitation?.id ?? "";
      assert.equal(await outcome(people.revokeInvitation({ ...scope, invitationId })), write, `${role.name} revokes`);
      const member = { ...scope, personId: victim.personId };
      assert.equal(await outcome(people.updateMember({ ...member, role: least })), write, `${role.name} changes`);
      assert.equal(await outcome(people.removeMember(member)), write, `${role.name} removes`);
      assert.equal(await outcome(people.listNames({ ...scope, personIds: [] })), "done", `${role.name} reads names`);
    }
  });
}

test("an admin can neither make nor change owners, and the last owner cannot be removed", async () => {
  const { people } = service;
  const merchantId = await service.newMerchant();
  const [owner, admin] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "admin" }),
  ];
  const byAdmin = { sessionSecret: admin.secret, door, merchantId };
  const byOwner = { sessionSecret: owner.secret, door, merchantId };
  await assert.rejects(
    people.updateMember({ ...byAdmin, personId: owner.personId, role: "viewer" }),
    isRefusal("FORBIDDEN"),
  );
  await assert.rejects(people.removeMember({ ...byAdmin, personId: owner.personId }), isRefusal("FORBIDDEN"));
  await assert.rejects(
    people.updateMember({ ...byAdmin, personId: admin.personId, role: "owner" }),
    isRefusal("FORBIDDEN"),
  );
  await assert.rejects(
    people.updateMember({ ...byOwner, personId: owner.personId, role: "admin" }),
    isRefusal("FORBIDDEN"),
  );
  await assert.rejects(people.removeMember({ ...byOwner, personId: owner.personId }), isRefusal("FORBIDDEN"));
  const { member } = await people.updateMember({ ...byOwner, personId: admin.personId, role: "owner" });
  assert.equal(member?.role, "owner");
  await people.updateMember({ ...byOwner, personId: owner.personId, role: "admin" });
  await assert.rejects(people.removeMember({ ...byOwner, personId: admin.personId }), isRefusal("FORBIDDEN"));
});

test("of two owners who remove or demote each other at once one stays", async () => {
  const { people, database } = service;
  const merchantId = await service.newMerchant();
  for (let round = 0; round < 5; round++) {
    const pair = [await service.joinMember(merchantId), await service.joinMember(merchantId)] as const;
    const kept = await database.query("select person_id from memberships where merchant_id = $1 and role = 'owner'", [
      merchantId,
    ]);
    for (const { person_id: personId } of kept.rows) {
      if (!pair.some((one) => one.personId === personId))
        await service.operator.removeMember({ door, merchantId, personId });
    }
    const against = ([one, other]: readonly [SignedIn, SignedIn], isRemoval: boolean) => {
      const input = { sessionSecret: one.secret, door, merchantId, personId: other.personId };
      return outcome(isRemoval ? people.removeMember(input) : people.updateMember({ ...input, role: "admin" }));
    };
    const both = await Promise.all([against(pair, round % 2 === 0), against([pair[1], pair[0]], round % 2 === 0)]);
    assert.equal(both.filter((result) => result === "done").length, 1, both.join(" and "));
    const { rows } = await database.query("select 1 from memberships where merchant_id = $1 and role = 'owner'", [
      merchantId,
    ]);
    assert.equal(rows.length, 1);
  }
});

test("a removal or a new role takes effect with the member's next call", async () => {
  const { people, signIn, announced } = service;
  const merchantId = await service.newMerchant();
  const [owner, admin] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "admin" }),
  ];
  const byOwner = { sessionSecret: owner.secret, door, merchantId, personId: admin.personId };
  const byAdmin = { sessionSecret: admin.secret, door, merchantId };
  await people.listMembers(byAdmin);
  await people.updateMember({ ...byOwner, role: "support", refundLimit: { amount: 100n, currency: "EUR" } });
  await assert.rejects(people.listMembers(byAdmin), isRefusal("FORBIDDEN"));
  const changed = await announced.event("member.changed", admin.personId);
  assert.deepEqual(
    [changed.actor, changed.attributes.role_before, changed.attributes.role, changed.attributes.refund_limit],
    [owner.personId, "admin", "support", "100 EUR"],
  );
  await people.removeMember(byOwner);
  await assert.rejects(people.listMembers(byAdmin), isRefusal("UNAUTHORIZED"));
  await assert.rejects(signIn.getSession({ door, sessionSecret: admin.secret }), isRefusal("UNAUTHORIZED"));
  await assert.rejects(people.removeMember(byOwner), isRefusal("NOT_FOUND"));
});

test("changes of a team need a proof of the last five minutes", async () => {
  const { people, database } = service;
  const merchantId = await service.newMerchant();
  const owner = await service.joinMember(merchantId);
  const viewer = await service.joinMember(merchantId, { role: "viewer" });
  await database.query(
    "update console_sessions set proved_at = now() - interval '5 minutes 1 second' where person_id = $1",
    [owner.personId],
  );
  const scope = { sessionSecret: owner.secret, door, merchantId };
  const invite = () => people.inviteMember({ ...scope, email: anEmail(), role: "viewer" });
  await assert.rejects(invite(), isRefusal("FORBIDDEN"));
  await assert.rejects(people.removeMember({ ...scope, personId: viewer.personId }), isRefusal("FORBIDDEN"));
  await people.listMembers(scope);
  const { challengeId, optionsJson } = await service.signIn.beginProof({ sessionSecret: owner.secret });
  const responseJson = owner.passkey.assert(optionsJson);
  const { session } = await service.signIn.finishProof({ sessionSecret: owner.secret, challengeId, responseJson });
  assert(session?.provedUntil);
  await invite();
});

test("another person's passkey, another session's challenge and a sign-in challenge prove nothing", async () => {
  const { signIn } = service;
  const merchantId = await service.newMerchant();
  const [ada, bob] = [await service.joinMember(merchantId), await service.joinMember(merchantId)];
  const beginProof = () => signIn.beginProof({ sessionSecret: ada.secret });
  const prove = (challengeId: string, responseJson: string) =>
    signIn.finishProof({ sessionSecret: ada.secret, challengeId, responseJson });
  const first = await beginProof();
  await assert.rejects(prove(first.challengeId, bob.passkey.assert(first.optionsJson)), isRefusal("UNAUTHORIZED"));
  const bobs = await signIn.beginProof({ sessionSecret: bob.secret });
  await assert.rejects(prove(bobs.challengeId, ada.passkey.assert(bobs.optionsJson)), isRefusal("UNAUTHORIZED"));
  const anybodys = await signIn.beginPasskeySignIn({ door });
  await assert.rejects(
    prove(anybodys.challengeId, ada.passkey.assert(anybodys.optionsJson)),
    isRefusal("UNAUTHORIZED"),
  );
  const good = await beginProof();
  await prove(good.challengeId, ada.passkey.assert(good.optionsJson));
});

test("the list has members by role and name, and open invitations, for the own merchant only", async () => {
  const { people } = service;
  const merchantId = await service.newMerchant();
  const [viewer, owner] = [
    await service.joinMember(merchantId, { role: "viewer" }),
    await service.joinMember(merchantId),
  ];
  const email = anEmail();
  const scope = { sessionSecret: owner.secret, door, merchantId };
  await people.inviteMember({ ...scope, email, role: "finance" });
  const { members, invitations } = await people.listMembers(scope);
  assert.deepEqual(
    members.map(({ person, role, hasPasskey }) => [person?.id, role, hasPasskey]),
    [
      [owner.personId, "owner", true],
      [viewer.personId, "viewer", true],
    ],
  );
  assert(members.every(({ lastSeenAt, joinedAt }) => lastSeenAt && joinedAt));
  assert.deepEqual(
    invitations.map((one) => [one.email, one.role, one.inviterName]),
    [[email, "finance", "Ada"]],
  );
  const other = await service.newMerchant();
  await assert.rejects(people.listMembers({ ...scope, merchantId: other }), isRefusal("NOT_FOUND"));
  const invitationId = invitations[0]?.id ?? "";
  const stranger = await service.joinMember(other);
  const from = { sessionSecret: stranger.secret, door, merchantId: other };
  await assert.rejects(people.revokeInvitation({ ...from, invitationId }), isRefusal("NOT_FOUND"));
  await assert.rejects(
    people.updateMember({ ...from, personId: viewer.personId, role: "admin" }),
    isRefusal("NOT_FOUND"),
  );
  await people.revokeInvitation({ ...scope, invitationId });
  assert.deepEqual((await people.listMembers(scope)).invitations, []);
});

test("names are shown of present and former members only", async () => {
  const { people, operator } = service;
  const merchantId = await service.newMerchant();
  const [owner, gone] = [
    await service.joinMember(merchantId),
    await service.joinMember(merchantId, { role: "viewer" }),
  ];
  const stranger = await service.joinMember(await service.newMerchant());
  await operator.removeMember({ door, merchantId, personId: gone.personId });
  const personIds = [owner.personId, gone.personId, stranger.personId];
  const named = await people.listNames({ sessionSecret: owner.secret, door, merchantId, personIds });
  assert.deepEqual(named.people.map(({ id }) => id).sort(), [owner.personId, gone.personId].sort());
});

test("a member has up to thirty saved views and a choice of mails, which end with the membership", async () => {
  const { people, operator, database } = service;
  const merchantId = await service.newMerchant();
  const support = await service.joinMember(merchantId, { role: "support" });
  const scope = { sessionSecret: support.secret, merchantId };
  const save = (name: string, query = "status=failed") =>
    people.saveView({ ...scope, view: { list: "payments", name, query } });
  for (let i = 0; i < 30; i++) await save(`view ${i}`);
  await assert.rejects(save("one more"), isRefusal("INVALID_BODY", "view"));
  await save("view 7", "status=succeeded");
  const { views } = await people.listSavedViews({ ...scope, list: "payments" });
  assert.equal(views.length, 30);
  assert.equal(views.find(({ name }) => name === "view 7")?.query, "status=succeeded");
  await people.deleteView({ ...scope, list: "payments", name: "view 7" });
  await people.deleteView({ ...scope, list: "payments", name: "view 7" });
  await save("one more");

  const { kinds, isPossible } = await people.getNotifications(scope);
  assert.equal(isPossible, false);
  assert.deepEqual(
    kinds.map(({ name, isOn }) => [name, isOn]),
    [
      ["link_paid", true],
      ["dispute_opened", true],
      ["dispute_due", true],
      ["refund_failed", true],
    ],
  );
  await people.updateNotifications({ ...scope, kinds: ["dispute_due"] });
  const chosen = (await people.getNotifications(scope)).kinds.filter(({ isOn }) => isOn).map(({ name }) => name);
  assert.deepEqual(chosen, ["dispute_due"]);
  await assert.rejects(
    people.updateNotifications({ ...scope, kinds: ["key_created"] }),
    isRefusal("INVALID_BODY", "kinds"),
  );
  await operator.removeMember({ door, merchantId, personId: support.personId });
  await assert.rejects(people.listSavedViews(scope), isRefusal("UNAUTHORIZED"));
  const { rows } = await database.query("select 1 from saved_views where person_id = $1", [support.personId]);
  assert.equal(rows.length, 0);
});

test.run();
