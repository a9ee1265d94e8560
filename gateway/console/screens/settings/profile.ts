// The merchant's profile, one copy per environment. Every member can read it.
import { Failure } from "#platform/values/failure.ts";
import { Environment, type Merchant } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { type Form, isLine, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { problemSummary, textField } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { renderTakeOver, shownEnvironment } from "../../view/from-sandbox.ts";
import { renderCopyable } from "../../view/pieces.ts";
import { factList } from "../../view/table.ts";

type ProfileValues = Readonly<Pick<Merchant, "name" | "legalName" | "email" | "phone" | "website" | "timeZone">>;
type Wrong = ReadonlySet<string>;

/** Fields by their name in the service, with their limits. */
const fields = [
  { name: "name", of: "name", label: "name", problem: "nameWrong", lengthMax: 100 },
  {
    name: "legal_name",
    of: "legalName",
    label: "legalName",
    hint: "legalNameHint",
    problem: "legalNameWrong",
    lengthMax: 200,
  },
  { name: "email", of: "email", label: "email", problem: "emailWrong", type: "email", lengthMax: 254 },
  { name: "phone", of: "phone", label: "phone", hint: "phoneHint", problem: "phoneWrong", type: "tel", lengthMax: 16 },
  {
    name: "website",
    of: "website",
    label: "website",
    hint: "websiteHint",
    problem: "websiteWrong",
    type: "url",
    lengthMax: 2_048,
  },
  {
    name: "time_zone",
    of: "timeZone",
    label: "timeZone",
    hint: "timeZoneHint",
    problem: "timeZoneWrong",
    lengthMax: 64,
  },
] as const;

export function profileRoutes(context: ConsoleContext): void {
  merchantPage(context, "/profile", undefined, async (visit) => {
    const { environment } = visit;
    const from = shownEnvironment(visit);
    const typed = from === environment ? undefined : await merchantOf(context, { ...visit, environment: from });
    return profilePage(visit, await merchantOf(context, visit), typed);
  });
  merchantForm(context, "/profile", { action: "profile.write" }, (visit, form) => save(context, visit, form));
}

async function merchantOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit): Promise<Merchant> {
  const { merchant } = await peers.merchants.getMerchant({ merchantId, environment });
  if (!merchant) throw new Failure("NOT_FOUND");
  return merchant;
}

async function save(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const typed: ProfileValues = {
    name: form.text("name"),
    legalName: form.text("legal_name"),
    email: form.text("email"),
    phone: form.text("phone").replace(/[\s()-]/g, ""),
    website: form.text("website"),
    timeZone: form.text("time_zone").replaceAll(" ", "_"),
  };
  const again = async (wrong: Wrong) => profilePage(visit, await merchantOf(context, visit), typed, wrong);
  const wrong = fields.filter(({ of, lengthMax }) => !isLine(typed[of], lengthMax));
  if (wrong.length > 0 || typed.name === "") {
    return await again(new Set([...wrong.map(({ name }) => name), ...(typed.name === "" ? ["name"] : [])]));
  }
  try {
    await context.peers.merchants.updateProfile({ merchantId, environment, ...typed });
    return { go: `${base}/profile`, done: "profile-saved" };
  } catch (error) {
    return await again(refusedFields(error));
  }
}

function profilePage(
  visit: MerchantVisit,
  merchant: Merchant,
  typed: ProfileValues = merchant,
  wrong: Wrong = new Set(),
): Page {
  const { language, environment } = visit;
  const texts = textsOf(language).profile;
  const summary = fields
    .filter(({ name }) => wrong.has(name))
    .map(({ name, label, problem }) => [name, `${texts[label]}: ${texts[problem]}`] as const);
  const shown = visit.may("profile.write")
    ? formOf(visit, typed, wrong)
    : html`<section class="panel">${factList(fields.map(({ of, label }): [string, string] => [texts[label], typed[of]]))}</section>`;
  return {
    title: texts.title,
    status: wrong.size > 0 ? 422 : 200,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about} ${environment === Environment.SANDBOX ? texts.sandboxNote : ""}</p>
${renderTakeOver(visit, "profile", "profile.write")}${problemSummary(textsOf(language).frame.problemTitle, summary)}${shown}
${fixedFacts(visit, merchant)}`,
  };
}

function formOf(visit: MerchantVisit, typed: ProfileValues, wrong: Wrong): Html {
  const { language, base } = visit;
  const texts = textsOf(language).profile;
  const inputs = fields.map((field) =>
    textField({
      name: field.name,
      label: texts[field.label],
      value: typed[field.of],
      maxlength: field.lengthMax,
      problem: wrong.has(field.name) ? texts[field.problem] : "",
      required: field.name === "name" || field.name === "email",
      ...("hint" in field && { hint: texts[field.hint] }),
      ...("type" in field && { type: field.type }),
    }),
  );
  return postForm(visit, { action: `${base}/profile`, fields: inputs, button: texts.save, layout: "panel" });
}

function fixedFacts({ language }: MerchantVisit, { id, country, currency, refundsEnabled }: Merchant): Html {
  const texts = textsOf(language).profile;
  return html`<section class="panel">${factList([
    [texts.country, country],
    [texts.currency, currency],
    [texts.refunds, refundsEnabled ? texts.on : texts.off],
    ["Id", renderCopyable(language, id)],
  ])}<p class="muted">${texts.fixed}</p></section>`;
}
