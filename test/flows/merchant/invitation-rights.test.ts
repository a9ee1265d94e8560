// The access that an invitation's link opens, for every inviter, role and sign-in method of the invited person, with a
// link shown to the inviter and one that goes by mail only. Over RPC on fresh databases.
import assert from "node:assert/strict";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { startSmtpSink } from "../../harness/servers/smtp-sink.ts";
import { SoftwareAuthenticator } from "../../harness/software-authenticator.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import {
  addPasskey,
  anEmail,
  originOf,
  type PeopleOverRpc,
  type SignedIn,
  startPeopleOverRpc,
  tokenOf,
} from "./people-over-rpc.ts";

const test = suite("rights of invitations", { timeoutMs: 120_000 });
const door = Door.MERCHANTS;
/** From the most to the least. */
const merchantRoles = ["owner", "admin", "developer", "support", "finance", "viewer"] as const;
const operatorRoles = ["owner", "operator", "auditor"] as const;

const sink = fixture(test, () => startSmtpSink());
const shown = fixture(test, () => startPeopleOverRpc());
const mailed = fixture(test, () =>
  startPeopleOverRpc({ SMTP_URL: sink.url, MAIL_FROM: "Tollbooth <console@shop.example>" }),
);

interface Member {
  readonly email: string;
  readonly personId: string;
  /** Of the first session, which can only add a sign-in method. */
  readonly secret: string;
}

/** A member who has accepted and has no sign-in method yet. */
async function halfJoined(service: PeopleOverRpc, merchantId: string, role: string, at: Door): Promise<Member> {
  const email = anEmail();
  const token = await service.issueInvitation(merchantId, { email, role, door: at });
  const { session } = await service.signIn.acceptInvitation({ door: at, token, name: "Olga" });
  return { email, personId: session?.session?.person?.id ?? "", secret: session?.secret ?? "" };
}

const linkedAtProvider = (service: PeopleOverRpc, { personId }: Member) =>
  service.database.query(
    "insert into provider_links (issuer, subject, person_id, created_at) values ('https://id.example', $1, $1, now())",
    [personId],
  );

/** Sign-in methods of the member, how to set them up, and whether they allow a sign-in. */
const states: readonly {
  readonly name: string;
  readonly canSignIn: boolean;
  readonly make: (service: PeopleOverRpc, member: Member, merchantId: string, at: Door) => Promise<unknown>;
}[] = [
  { name: "nothing set up yet", canSignIn: false, make: async () => {} },
  {
    name: "access reset by an operator",
    canSignIn: false,
    make: async (service, member, merchantId, at) => {
      await addPasskey(service.signIn, member.secret, new SoftwareAuthenticator(originOf(at)));
      await service.operator.resetAccess({ door: at, merchantId, personId: member.personId });
    },
  },
  {
    name: "a passkey",
    canSignIn: true,
    make: (service, member, _merchantId, at) =>
      addPasskey(service.signIn, member.secret, new SoftwareAuthenticator(originOf(at))),
  },
  {
    name: "an authenticator app",
    canSignIn: true,
    make: (service, { personId }) =>
      service.database.query(
        "insert into authenticators (person_id, secret, confirmed_at) values ($1, '\\x00', now())",
        [personId],
      ),
  },
  { name: "the identity provider alone", canSignIn: true, make: linkedAtProvider },
];

/** The link's token, from the answer or from the mailbox. */
async function invitedBy(service: PeopleOverRpc, inviter: SignedIn, merchantId: string, email: string, at: Door) {
  const role = at === Door.OPERATORS ? "auditor" : "viewer";
  const input = { sessionSecret: inviter.secret, door: at, merchantId, email, role };
  const { link } = await service.people.inviteMember(input);
  if (service === shown) return tokenOf(link);
  assert.equal(link, "", "the link goes by mail only");
  // The operator's invitation went to the same address before.
  const mail = await eventually("the invitation's mail", () =>
    sink.mails.find(({ to, text }) => [to].flat()[0]?.text === email && text?.includes("Ada invites you")),
  );
  return /https:\/\/\S+\/(\S+)/.exec(mail.text ?? "")?.[1] ?? assert.fail("no link");
}

/** Invites the member's address and accepts without a session. @returns the outcome */
async function become(service: PeopleOverRpc, inviter: SignedIn, merchantId: string, member: Member, at: Door) {
  try {
    const token = await invitedBy(service, inviter, merchantId, member.email, at);
    const { session } = await service.signIn.acceptInvitation({ door: at, token, name: "Adam" });
    return session?.session?.person?.id === member.personId ? "became them" : "became another";
  } catch (error) {
    return error instanceof Error && "reason" in error ? String(error.reason) : String(error);
  }
}

const inviters: readonly { readonly role: string; readonly at: Door; readonly mayGive: (role: string) => boolean }[] = [
  { role: "owner", at: Door.MERCHANTS, mayGive: () => true },
  { role: "admin", at: Door.MERCHANTS, mayGive: (role) => role !== "owner" },
  // An operator who invites for a merchant.
  { role: "operator", at: Door.OPERATORS, mayGive: () => true },
];

for (const how of ["shown", "mailed"] as const) {
  test(`a link that is ${how} opens no access of a person who can sign in, or has a role that the inviter may not give`, async () => {
    const service = how === "shown" ? shown : mailed;
    for (const { role, at, mayGive } of inviters) {
      const merchantId = await service.newMerchant();
      const inviter = await service.joinMember(at === Door.OPERATORS ? "" : merchantId, { role, door: at });
      for (const state of states) {
        for (const invitedRole of merchantRoles) {
          const member = await halfJoined(service, merchantId, invitedRole, door);
          await state.make(service, member, merchantId, door);
          const isTheirs = how === "mailed" || mayGive(invitedRole);
          const expected = state.canSignIn ? "INVALID_BODY" : isTheirs ? "became them" : "FORBIDDEN";
          const what = `${role} invites ${invitedRole} with ${state.name}`;
          assert.equal(await become(service, inviter, merchantId, member, door), expected, what);
        }
      }
    }
  });

  test(`at the operators' console a link that is ${how} opens no access of a person who can sign in`, async () => {
    const service = how === "shown" ? shown : mailed;
    const inviter = await service.joinMember("", { role: "owner", door: Door.OPERATORS });
    for (const state of states) {
      for (const invitedRole of operatorRoles) {
        const member = await halfJoined(service, "", invitedRole, Door.OPERATORS);
        await state.make(service, member, "", Door.OPERATORS);
        const expected = state.canSignIn ? "INVALID_BODY" : "became them";
        const what = `invites ${invitedRole} with ${state.name}`;
        assert.equal(await become(service, inviter, "", member, Door.OPERATORS), expected, what);
      }
    }
  });
}

test("a shown link stops working when the member gets a role that its inviter may not give", async () => {
  const merchantId = await shown.newMerchant();
  const admin = await shown.joinMember(merchantId, { role: "admin" });
  const member = await halfJoined(shown, merchantId, "viewer", door);
  const token = await invitedBy(shown, admin, merchantId, member.email, door);
  assert.equal((await shown.signIn.getInvitation({ door, token })).isKnown, false);
  await shown.operator.updateMember({ door, merchantId, personId: member.personId, role: "owner" });
  assert.equal((await shown.signIn.getInvitation({ door, token })).isKnown, true);
  await assert.rejects(shown.signIn.acceptInvitation({ door, token, name: "Adam" }), isRefusal("FORBIDDEN"));
});

test("a person who was removed from their last team is invited again without their old device", async () => {
  const [first, second] = [await shown.newMerchant(), await shown.newMerchant()];
  const { email, personId } = await shown.joinMember(first, { role: "admin" });
  const { secret } = await shown.joinMember(second);
  const token = await shown.issueInvitation(second, { email, role: "viewer" });
  const isKnown = async () => (await shown.signIn.getInvitation({ door, token })).isKnown;
  assert.equal(await isKnown(), true);
  await shown.operator.removeMember({ door, merchantId: first, personId });
  assert.equal(await isKnown(), false);
  const { session } = await shown.signIn.acceptInvitation({ door, token, name: "Olga" });
  await addPasskey(shown.signIn, session?.secret ?? "", new SoftwareAuthenticator(originOf(door)));
  await shown.people.removeMember({ sessionSecret: secret, door, merchantId: second, personId });
});

test("an admin cannot replace an owner's invitation", async () => {
  const merchantId = await shown.newMerchant();
  const [owner, admin] = [await shown.joinMember(merchantId), await shown.joinMember(merchantId, { role: "admin" })];
  const email = anEmail();
  const input = { door, merchantId, email, role: "viewer" };
  const { link } = await shown.people.inviteMember({ ...input, role: "owner", sessionSecret: owner.secret });
  const byAdmin = shown.people.inviteMember({ ...input, sessionSecret: admin.secret });
  await assert.rejects(byAdmin, isRefusal("FORBIDDEN"));
  assert.equal((await shown.signIn.getInvitation({ door, token: tokenOf(link) })).role, "owner");
});

for (const how of ["shown", "mailed"] as const) {
  test(`an invitation whose link was ${how} ends when its inviter may no longer give the role`, async () => {
    const service = how === "shown" ? shown : mailed;
    const merchantId = await service.newMerchant();
    const [removed, demoted, operator] = [
      await service.joinMember(merchantId, { role: "admin" }),
      await service.joinMember(merchantId, { role: "admin" }),
      await service.joinMember("", { door: Door.OPERATORS, role: "operator" }),
    ];
    const invitedAs = async (inviter: SignedIn) => await invitedBy(service, inviter, merchantId, anEmail(), door);
    const tokens = [await invitedAs(removed), await invitedAs(demoted), await invitedAs(operator)];
    const stays = await service.issueInvitation(merchantId, { role: "owner" });
    await service.operator.removeMember({ door, merchantId, personId: removed.personId });
    await service.operator.updateMember({ door, merchantId, personId: demoted.personId, role: "support" });
    const above = { door: Door.OPERATORS, merchantId: "", personId: operator.personId };
    await service.operator.updateMember({ ...above, role: "auditor" });
    for (const token of tokens) {
      await assert.rejects(service.signIn.getInvitation({ door, token }), isRefusal("NOT_FOUND"));
      const accepted = service.signIn.acceptInvitation({ door, token, name: "Bob" });
      await assert.rejects(accepted, isRefusal("NOT_FOUND"));
    }
    assert.equal((await service.signIn.getInvitation({ door, token: stays })).role, "owner");
  });
}

test("a session from a shown link ends when the person is given a higher role", async () => {
  const merchantId = await shown.newMerchant();
  const [owner, admin] = [await shown.joinMember(merchantId), await shown.joinMember(merchantId, { role: "admin" })];
  const member = await halfJoined(shown, merchantId, "developer", door);
  const token = await invitedBy(shown, admin, merchantId, member.email, door);
  const { session } = await shown.signIn.acceptInvitation({ door, token, name: "Adam" });
  const { personId } = member;
  await shown.people.updateMember({ sessionSecret: owner.secret, door, merchantId, personId, role: "owner" });
  const added = addPasskey(shown.signIn, session?.secret ?? "", new SoftwareAuthenticator(originOf(door)));
  await assert.rejects(added, isRefusal("UNAUTHORIZED"));
});

test("adding a passkey sends a mail to a person who signs in by the identity provider only", async () => {
  const merchantId = await mailed.newMerchant();
  const member = await halfJoined(mailed, merchantId, "owner", door);
  await linkedAtProvider(mailed, member);
  await addPasskey(mailed.signIn, member.secret, new SoftwareAuthenticator(originOf(door)));
  await sink.mailTo(member.email, "New sign-in method");
});

test.run();
