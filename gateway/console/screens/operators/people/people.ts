// The people of a merchant and of the installation, on the same page. Each change needs fresh proof.
import { Failure } from "#platform/values/failure.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { paramOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { noProblems, showRefusal } from "../../../view/operator-forms.ts";
import { invitedPage } from "../../../view/people.ts";
import { type MembersScope, membersPage } from "./members.ts";

type FindScope = (visit: OperatorVisit) => Promise<MembersScope>;

export function peopleRoutes(context: ConsoleContext): void {
  const ofInstallation: FindScope = async (visit) => ({
    door: Door.OPERATORS,
    merchantId: "",
    path: "/team",
    title: textsOf(visit.language).people.team,
    mayWrite: visit.may("team.write"),
  });
  const ofMerchant: FindScope = async (visit) => {
    const { merchant } = await context.peers.merchants.getMerchant({ merchantId: paramOf(visit, "merchantId") });
    if (!merchant) throw new Failure("NOT_FOUND");
    const [merchantId, path] = [merchant.id, `/merchants/${merchant.id}/people`];
    const title = fill(textsOf(visit.language).people.peopleOf, { name: merchant.name });
    return { door: Door.MERCHANTS, merchantId, path, title, mayWrite: visit.may("merchants.write") };
  };
  addScopeRoutes(context, "/team", "team", ofInstallation);
  addScopeRoutes(context, "/merchants/:merchantId/people", "merchants", ofMerchant);
}

/** @param right prefix of the rights `.read` and `.write` */
function addScopeRoutes(context: ConsoleContext, path: string, right: string, find: FindScope): void {
  const { people } = context.peers;
  const needs = { action: `${right}.write`, proof: () => true };
  operatorPage(context, path, `${right}.read`, async (visit) => {
    return await membersPage(context, visit, await find(visit), noProblems);
  });
  operatorForm(context, `${path}/invite`, needs, async (visit, form) =>
    invite(context, visit, await find(visit), form),
  );
  operatorForm(context, `${path}/:personId/role`, needs, async (visit, form) => {
    const scope = await find(visit);
    const { door, merchantId } = scope;
    const personId = paramOf(visit, "personId");
    const currency = form.text("limit_currency");
    const refundLimit = currency === "" ? undefined : { amount: amountOf(form.text("limit_amount")), currency };
    const role = form.text(`role-${personId}`);
    const change = async () => {
      const { roles } = await people.listRoles({ door });
      const takesLimit = roles.find(({ name }) => name === role)?.takesRefundLimit === true;
      const limit = takesLimit && refundLimit ? { refundLimit } : {};
      await people.updateMember({ sessionSecret: visit.secret, door, merchantId, personId, role, ...limit });
      return { go: scope.path, done: "member-changed" };
    };
    return await showRefusal(visit, change, (problems) => membersPage(context, visit, scope, problems));
  });
  operatorForm(context, `${path}/:personId/remove`, needs, async (visit) => {
    const scope = await find(visit);
    const { door, merchantId } = scope;
    const remove = async () => {
      const personId = paramOf(visit, "personId");
      await people.removeMember({ sessionSecret: visit.secret, door, merchantId, personId });
      return { go: scope.path, done: "member-removed" };
    };
    return await showRefusal(visit, remove, (problems) => membersPage(context, visit, scope, problems));
  });
  operatorForm(context, `${path}/invitations/:invitationId/revoke`, needs, async (visit) => {
    const { door, merchantId, path: back } = await find(visit);
    const invitationId = paramOf(visit, "invitationId");
    await people.revokeInvitation({ sessionSecret: visit.secret, door, merchantId, invitationId });
    return { go: back, done: "invitation-revoked" };
  });
}

async function invite(context: ConsoleContext, visit: OperatorVisit, scope: MembersScope, form: Form): Promise<Answer> {
  const [email, role] = [form.text("email"), form.text("role")];
  const texts = textsOf(visit.language).people;
  if (email === "") {
    const typed = { email, role };
    return { ...(await membersPage(context, visit, scope, [["email", texts.emailNeeded]], typed)), status: 422 };
  }
  const { door, merchantId } = scope;
  const send = async (): Promise<Page> => {
    const request = { sessionSecret: visit.secret, door, merchantId, email, role, language: visit.language };
    return invitedPage(visit, email, await context.peers.people.inviteMember(request), scope.path);
  };
  return await showRefusal(visit, send, (problems) => {
    const shownProblems = problems.map(
      ([field, text]) => [field, field === "email" ? texts.emailTaken : text] as const,
    );
    return membersPage(context, visit, scope, shownProblems, { email, role });
  });
}

function amountOf(text: string): bigint {
  return /^\d{1,8}$/.test(text) ? BigInt(text) : 0n;
}
