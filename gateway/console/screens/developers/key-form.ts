// Creates an API key. Only the page that answers the form shows the raw key.
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { html } from "../../../html.ts";
import { scopes } from "../../../operation.ts";
import { nextDayStart } from "../../http/day.ts";
import { type Form, isLine, problemsOf, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField, problemOf, problemSummary, textArea, textFields } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { codeBlock, secretOnce } from "../../view/pieces.ts";

const nameMax = 100;

interface FormValues {
  readonly name: string;
  readonly scopes: readonly string[];
  /** `YYYY-MM-DD` or empty. */
  readonly until: string;
  readonly addresses: string;
}

/** Live keys take money, so each change needs fresh proof. */
export const keyNeeds = {
  action: "keys.write",
  proof: ({ environment }: MerchantVisit) => environment === Environment.LIVE,
};

export function keyFormRoutes(context: ConsoleContext): void {
  merchantPage(context, "/keys/new", "keys.write", async (visit) =>
    formPage(visit, { name: "", scopes: ["payments:read", "payments:write"], until: "", addresses: "" }),
  );
  merchantForm(context, "/keys", keyNeeds, (visit, form) => createKey(context, visit, form));
}

async function createKey({ peers, config }: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment } = visit;
  const typed: FormValues = {
    ...{ name: form.text("name"), scopes: form.all("scopes") },
    ...{ until: form.text("until"), addresses: form.text("addresses") },
  };
  const expiresAt = nextDayStart(typed.until);
  const wrong = new Set([
    ...(typed.name === "" || !isLine(typed.name, nameMax) ? ["name"] : []),
    ...(typed.scopes.length === 0 ? ["scopes"] : []),
    ...(typed.until !== "" && !expiresAt ? ["expires_at"] : []),
  ]);
  if (wrong.size > 0) return formPage(visit, typed, wrong);
  const ranges = linesOf(typed.addresses);
  const key = { name: typed.name, scopes: [...typed.scopes], ...(ranges.length > 0 && { allowedIps: { ranges } }) };
  try {
    const { secret } = await peers.apiKeys.createApiKey({
      ...{ merchantId, environment, ...key },
      ...(expiresAt && { expiresAt }),
    });
    return newKeyPage(visit, { secret, scopes: typed.scopes }, "createdTitle", "", config.API_ORIGIN);
  } catch (error) {
    const isFull = error instanceof Failure && error.reason === "TOO_MANY_KEYS";
    return formPage(visit, typed, isFull ? new Set(["tooMany"]) : refusedFields(error));
  }
}

/** Addresses as they were typed: one per line, or separated by commas. */
export function linesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((line) => line !== "");
}

function formPage(visit: MerchantVisit, typed: FormValues, wrong: ReadonlySet<string> = new Set()): Page {
  const { language, environment, base } = visit;
  const texts = textsOf(language).keys;
  const problems = problemsOf(wrong, {
    name: ["name", texts.nameWrong],
    scopes: ["scopes-0", texts.scopesWrong],
    expires_at: ["until", texts.expiresWrong],
    allowed_ips: ["addresses", texts.addressesWrong],
    tooMany: ["name", texts.tooMany],
  });
  const { scopes: values, ...single } = typed;
  const field = textFields(single, problems);
  const addresses = textArea({
    ...{ name: "addresses", label: texts.addresses, hint: texts.addressesHint, value: typed.addresses },
    ...{ maxlength: 2_000, problem: problemOf(problems, "addresses") },
  });
  const fields = [
    field("name", texts.name, { hint: texts.nameHint, maxlength: nameMax, required: true }),
    choiceField({
      ...{ name: "scopes", label: texts.scopes, values, problem: problemOf(problems, "scopes-0") },
      choices: scopes.map((scope) => ({ value: scope, label: scope, hint: texts[scope] })),
    }),
    field("until", texts.expires, { hint: texts.expiresHint, type: "date" }),
    ...(environment === Environment.LIVE ? [addresses] : []),
  ];
  return {
    title: texts.addTitle,
    status: problems.length > 0 ? 422 : 200,
    body: html`<h1>${texts.addTitle}</h1>${problemSummary(textsOf(language).frame.problemTitle, problems)}
${postForm(visit, { action: `${base}/keys`, fields, button: texts.add, layout: "panel" })}`,
  };
}

interface NewKey {
  readonly secret: string;
  readonly scopes: readonly string[];
}

/** @param apiOrigin of the sample request; undefined shows none */
export function newKeyPage(
  { language, base }: MerchantVisit,
  { secret, scopes: own }: NewKey,
  titleName: "createdTitle" | "rolledTitle",
  note: string,
  apiOrigin: string | undefined,
): Page {
  const texts = textsOf(language).keys;
  return {
    title: texts[titleName],
    body: html`<h1>${texts[titleName]}</h1>${note === "" ? "" : html`<p>${note}</p>`}
${secretOnce(language, texts.secret, secret)}
${apiOrigin === undefined ? "" : html`<h2>${texts.request}</h2>${codeBlock(language, firstRequest(apiOrigin, own))}`}
<p><a class="button" href="${base}/keys">${texts.toKeys}</a></p>`,
  };
}

/** A request that the key may make: a read where it has one, else a write that moves no money. */
function firstRequest(apiOrigin: string, own: readonly string[]): string {
  const json = `-H "Content-Type: application/json" -d`;
  const requests: Readonly<Record<string, string>> = {
    "merchant:read": "/v1/merchants/me",
    "payments:read": "/v1/payments",
    "payments:write": `/v1/checkout-sessions ${json} '{"amount":1050,"currency":"EUR"}'`,
    "merchant:write": `/v1/merchants/me/profile -X PATCH ${json} '{}'`,
  };
  const [, request = ""] = Object.entries(requests).find(([scope]) => own.includes(scope)) ?? [];
  const [path = "", ...rest] = request.split(" ");
  return [`curl ${apiOrigin}${path} -H "Authorization: Bearer $TOLLBOOTH_API_KEY"`, ...rest].join(" ");
}
