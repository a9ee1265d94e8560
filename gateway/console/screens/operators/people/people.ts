// Who works for a merchant, and who runs the installation: the same page for both, each change with a fresh proof.
import { Failure } from "#platform/values/failure.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { html } from "../../../../html.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { backTo, noProblems, panel, pathPart, refusable } from "../../../view/operator-forms.ts";
import { copyable } from "../../../view/pieces.ts";
import { membersPage, type Place } from "./members.ts";

type FindPlace = (visit: OperatorVisit) => Promise<Place>;

export function peopleRoutes(context: ConsoleContext): void {
  const ofInstallation: FindPlace = async (visit) => ({
    door: Door.OPERATORS,
    merchantId: "",
    path: "/team",
    title: textsOf(visit.language).people.team,
    mayWrite: visit.may("team.write"),
  });
  const ofMerchant: FindPlace = async (visit) => {
    const { merchant } = await context.peers.merchants.getMerchant({ merchantId: pathPart(visit, "merchantId") });
    if (!merchant) throw new Failure("NOT_FOUND");
    const [merchantId, path] = [merchant.id, `/merchants/${merchant.id}/people`];
    const title = fill(textsOf(visit.language).people.peopleOf, { name: merchant.name });
    return { door: Door.MERCHANTS, merchantId, path, title, mayWrite: visit.may("merchants.write") };
  };
  addPlace(context, "/team", "team", ofInstallation);
  addPlace(context, "/merchants/:merchantId/people", "merchants", ofMerchant);
}

/** @param right the stem of the actions: `<stem>.read` sees, `<stem>.write` changes */
function addPlace(context: ConsoleContext, path: string, right: string, find: FindPlace): void {
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
    const { door, merchantId, path: back, ...place } = await find(visit);
    const personId = pathPart(visit, "personId");
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
    const here = { door, merchantId, path: back, ...place };
    return await refusable(visit, change, (problems) => membersPage(context, visit, here, problems));
  });
  operatorForm(context, `${path}/:personId/remove`, grave, async (visit) => {
    const place = await find(visit);
    const { door, merchantId } = place;
    const remove = async () => {
      const personId = pathPart(visit, "personId");
      await people.removeMember({ sessionSecret: visit.secret, door, merchantId, personId });
      return { go: place.path, done: "member-removed" };
    };
    return await refusable(visit, remove, (problems) => membersPage(context, visit, place, problems));
  });
  operatorForm(context, `${path}/invitations/:invitationId/revoke`, grave, async (visit) => {
    const { door, merchantId, path: back } = await find(visit);
    const invitationId = pathPart(visit, "invitationId");
    await people.revokeInvitation({ sessionSecret: visit.secret, door, merchantId, invitationId });
    return { go: back, done: "invitation-revoked" };
  });
}

/** The link stands in this answer alone: not in an address, which would be kept. */
async function invite(context: ConsoleContext, visit: OperatorVisit, place: Place, form: Form): Promise<Answer> {
  const { language } = visit;
  const [email, role] = [form.text("email"), form.text("role")];
  const texts = textsOf(language).people;
  if (email === "") {
    const typed = { email, role };
    return { ...(await membersPage(context, visit, place, [["email", texts.emailNeeded]], typed)), status: 422 };
  }
  const { door, merchantId } = place;
  const send = async (): Promise<Page> => {
    const asked = { sessionSecret: visit.secret, door, merchantId, email, role, language };
    const { link, isMailed } = await context.peers.people.inviteMember(asked);
    return {
      title: texts.invited,
      body: html`${backTo(place.path, place.title)}<h1>${texts.invited}</h1>
${panel(email, html`<p>${fill(texts.invitedText, { email })} ${isMailed ? texts.mailed : texts.notMailed}</p>${link === "" ? "" : html`<p>${copyable(language, link)}</p>`}`)}`,
    };
  };
  return await refusable(visit, send, (problems) => {
    const told = problems.map(([field, text]) => [field, field === "email" ? texts.emailTaken : text] as const);
    return membersPage(context, visit, place, told, { email, role });
  });
}

function amountOf(text: string): bigint {
  return /^\d{1,8}$/.test(text) ? BigInt(text) : 0n;
}
