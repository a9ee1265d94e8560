// Making an API key. The raw key stands on the page that answers the form, and nowhere else.
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { html } from "../../../html.ts";
import { displayFormats, displayLine } from "../../../http/display-text.ts";
import { scopes } from "../../../operation.ts";
import { nextDayStart } from "../../http/day.ts";
import { type Form, formFields, isRefused, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField, hidden, problemSummary, textArea, textField } from "../../view/fields.ts";
import { codeBlock, secretOnce } from "../../view/pieces.ts";

const nameMax = 100;

interface FormValues {
  readonly name: string;
  readonly scopes: readonly string[];
  /** `YYYY-MM-DD` or empty. */
  readonly until: string;
  /** One a line. */
  readonly addresses: string;
}

/** Live keys take money: a fresh proof for each of their changes. */
export const keyNeeds = {
  action: "keys.write",
  proof: ({ environment }: MerchantVisit) => environment === Environment.LIVE,
};

export function keyFormRoutes(context: ConsoleContext): void {
  merchantPage(context, "/keys/new", "keys.write", async (visit) =>
    formPage(visit, { name: "", scopes: ["payments:read", "payments:write"], until: "", addresses: "" }),
  );
  merchantForm(context, "/keys", keyNeeds, async (visit, form) => await makeKey(context, visit, form));
}

async function makeKey({ peers, config }: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment } = visit;
  const typed: FormValues = {
    name: form.text("name"),
    scopes: form.all("scopes"),
    until: form.text("until"),
    addresses: form.text("addresses"),
  };
  const expiresAt = nextDayStart(typed.until);
  const wrong = wrongOf(typed, expiresAt !== undefined);
  if (wrong.size > 0) return formPage(visit, typed, wrong);
  const ranges = linesOf(typed.addresses);
  const key = { name: typed.name, scopes: [...typed.scopes], ...(ranges.length > 0 && { allowedIps: { ranges } }) };
  try {
    const made = await peers.apiKeys.createApiKey({ merchantId, environment, ...key, ...(expiresAt && { expiresAt }) });
    return newKeyPage(visit, made.secret, "madeTitle", "", config.API_ORIGIN);
  } catch (error) {
    if (error instanceof Failure && error.reason === "TOO_MANY_KEYS")
      return formPage(visit, typed, new Set(["tooMany"]));
    return formPage(visit, typed, refusedFields(error));
  }
}

function wrongOf({ name, scopes: wanted, until }: FormValues, isDay: boolean): Set<string> {
  const isLine = displayFormats[displayLine]?.(name) ?? true;
  return new Set([
    ...(name === "" || name.length > nameMax || !isLine ? ["name"] : []),
    ...(wanted.length === 0 ? ["scopes"] : []),
    ...(until !== "" && !isDay ? ["expires_at"] : []),
  ]);
}

/** Addresses as they were typed: one a line, or with commas between them. */
export function linesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((line) => line !== "");
}

function formPage(visit: MerchantVisit, typed: FormValues, wrong: ReadonlySet<string> = new Set()): Page {
  const { language, environment, base, token } = visit;
  const texts = textsOf(language).keys;
  const isWrong = (name: string) => isRefused(wrong, name);
  const fields = [
    ["name", "name", texts.nameWrong],
    ["scopes", "scopes-0", texts.scopesWrong],
    ["expires_at", "until", texts.expiresWrong],
    ["allowed_ips", "addresses", texts.addressesWrong],
    ["tooMany", "name", texts.tooMany],
  ] as const;
  const problems = fields.filter(([name]) => isWrong(name)).map(([, field, text]) => [field, text] as const);
  const problem = (name: string, text: string) => (isWrong(name) ? text : "");
  const addresses =
    environment === Environment.LIVE
      ? textArea({
          name: "addresses",
          label: texts.addresses,
          hint: texts.addressesHint,
          value: typed.addresses,
          maxlength: 2_000,
          problem: problem("allowed_ips", texts.addressesWrong),
        })
      : "";
  return {
    title: texts.addTitle,
    status: problems.length > 0 ? 422 : 200,
    body: html`<h1>${texts.addTitle}</h1>${problemSummary(textsOf(language).frame.wrongTitle, problems)}
<form method="post" action="${base}/keys" class="panel">${hidden(formFields.token, token)}
${textField({ name: "name", label: texts.name, hint: texts.nameHint, value: typed.name, maxlength: nameMax, required: true, problem: problem("name", texts.nameWrong) })}
${choiceField({
  name: "scopes",
  label: texts.scopes,
  values: typed.scopes,
  problem: problem("scopes", texts.scopesWrong),
  choices: scopes.map((scope) => ({ value: scope, label: scope, hint: texts[scope] })),
})}
${textField({ name: "until", label: texts.expires, hint: texts.expiresHint, value: typed.until, type: "date", problem: problem("expires_at", texts.expiresWrong) })}
${addresses}<button class="button">${texts.add}</button></form>`,
  };
}

/** @param note beside the secret @param apiOrigin of the sample; undefined: none is shown */
export function newKeyPage(
  { language, base }: MerchantVisit,
  secret: string,
  titleName: "madeTitle" | "rolledTitle",
  note: string,
  apiOrigin: string | undefined,
): Page {
  const texts = textsOf(language).keys;
  const sample = `curl ${apiOrigin ?? ""}/v1/merchants/me -H "Authorization: Bearer $TOLLBOOTH_API_KEY"`;
  return {
    title: texts[titleName],
    body: html`<h1>${texts[titleName]}</h1>${note === "" ? "" : html`<p>${note}</p>`}
${secretOnce(language, texts.secret, secret)}
${apiOrigin === undefined ? "" : html`<h2>${texts.request}</h2>${codeBlock(language, sample)}`}
<p><a class="button" href="${base}/keys">${texts.toKeys}</a></p>`,
  };
}
