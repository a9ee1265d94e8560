// Who works for a merchant, and who runs the installation: the same page for both, each change with a fresh proof.
import { Failure } from "#platform/values/failure.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { html } from "../../../../html.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { backTo, noProblems, panel, pathParam, showRefusal } from "../../../view/operator-forms.ts";
import { renderCopyable } from "../../../view/pieces.ts";
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
    const { merchant } = await context.peers.merchants.getMerchant({ merchantId: pathParam(visit, "merchantId") });
    if (!merchant) throw new Failure("NOT_FOUND");
    const [merchantId, path] = [merchant.id, `/merchants/${merchant.id}/people`];
    const title = fill(textsOf(visit.language).people.peopleOf, { name: merchant.name });
    return { door: Door.MERCHANTS, merchantId, path, title, mayWrite: visit.may("merchants.write") };
  };
  addScopeRoutes(context, "/team", "team", ofInstallation);
  addScopeRoutes(context, "/merchants/:merchantId/people", "merchants", ofMerchant);
}

/** @param right the stem of the actions: `<stem>.read` sees, `<stem>.write` changes */
function addScopeRoutes(context: ConsoleContext, path: string, right: string, find: FindScope): void {
  const { people } = context.peers;
  const grave = { action: `${right}.write`, proof: () => true };
  operatorPage(context, path, `${right}.read`, async (visit) => {
    return await membersPage(context, visit, await find(visit), noProblems);
  });
  operatorForm(
    context,
    `${path}/invite`,
    grave,
    async (visit, form) => await invite(context, visit, await find(visit), form),
  );
  operatorForm(context, `${path}/:personId/role`, grave, async (visit, form) => {
    const { door, merchantId, path: back, ...scope } = await find(visit);
    const personId = pathParam(visit, "personId");
    const currency = form.text("limit_currency");
    const refundLimit = currency === "" ? undefined : { amount: amountOf(form.text("limit_amount")), currency };
    const role = form.text(`role-${personId}`);
    const change = async () => {
      const { roles } = await people.listRoles({ door });
      const takesLimit = roles.find(({ name }) => name === role)?.takesRefundLimit === true;
      const limit = takesLimit && refundLimit ? { refundLimit } : {};
      await people.updateMember({ sessionSecret: visit.secret, door, merchantId, personId, role, ...limit });
      return { go: back, done: "member-changed" };
    };
    const here = { door, merchantId, path: back, ...scope };
    return await showRefusal(visit, change, (problems) => membersPage(context, visit, here, problems));
  });
  operatorForm(context, `${path}/:personId/remove`, grave, async (visit) => {
    const scope = await find(visit);
    const { door, merchantId } = scope;
    const remove = async () => {
      const personId = pathParam(visit, "personId");
      await people.removeMember({ sessionSecret: visit.secret, door, merchantId, personId });
      return { go: scope.path, done: "member-removed" };
    };
    return await showRefusal(visit, remove, (problems) => membersPage(context, visit, scope, problems));
  });
  operatorForm(context, `${path}/invitations/:invitationId/revoke`, grave, async (visit) => {
    const { door, merchantId, path: back } = await find(visit);
    const invitationId = pathParam(visit, "invitationId");
    await people.revokeInvitation({ sessionSecret: visit.secret, door, merchantId, invitationId });
    return { go: back, done: "invitation-revoked" };
  });
}

/** The link stands in this answer alone: not in an address, which would be kept. */
async function invite(context: ConsoleContext, visit: OperatorVisit, scope: MembersScope, form: Form): Promise<Answer> {
  const { language } = visit;
  const [email, role] = [form.text("email"), form.text("role")];
  const texts = textsOf(language).people;
  if (email === "") {
    const typed = { email, role };
    return { ...(await membersPage(context, visit, scope, [["email", texts.emailNeeded]], typed)), status: 422 };
  }
  const { door, merchantId } = scope;
  const send = async (): Promise<Page> => {
    const request = { sessionSecret: visit.secret, door, merchantId, email, role, language };
    const { link, isMailed } = await context.peers.people.inviteMember(request);
    return {
      title: texts.invited,
      body: html`${backTo(scope.path, scope.title)}<h1>${texts.invited}</h1>
${panel(email, html`<p>${fill(texts.invitedText, { email })} ${isMailed ? texts.mailed : texts.notMailed}</p>${link === "" ? "" : html`<p>${renderCopyable(language, link)}</p>`}`)}`,
    };
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
