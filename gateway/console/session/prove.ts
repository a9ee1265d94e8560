// Asks for a fresh passkey or code before a dangerous action. The page carries the form's fields, so the form continues
// after the proof. The company's identity provider opens in a new tab.
import { Failure } from "#platform/values/failure.ts";
import { html } from "../../html.ts";
import { type Form, formFields } from "../http/form.ts";
import { textsOf } from "../texts/texts.ts";
import { codeField, hiddenField, renderAlert } from "../view/fields.ts";
import { cardPage } from "../view/forms.ts";
import { passkeyForm, providerLink } from "../view/passkey-form.ts";
import { isProved, personVisit } from "./admit.ts";
import type { ConsoleContext, Page, PersonVisit } from "./visit.ts";

export async function requireProof<V extends PersonVisit>(
  context: ConsoleContext,
  visit: V,
  form: Form,
): Promise<{ readonly visit: V } | { readonly page: Page }> {
  // The merchant service checks again, by the database's clock, where it matters.
  if (isProved(visit.session, Date.now())) return { visit };
  const challengeId = form.raw(formFields.challenge);
  const code = form.text(formFields.code).replace(/\s/g, "");
  if (challengeId === "" && code === "") return { page: await proofPage(context, visit, form) };
  try {
    const { session } = await context.peers.signIn.finishProof({
      sessionSecret: visit.secret,
      ...(code === "" ? { challengeId, responseJson: form.raw(formFields.response) } : { code }),
    });
    if (!session) throw new Failure("UNAUTHORIZED");
    return { visit: { ...visit, ...personVisit(visit, session, visit.secret) } };
  } catch (error) {
    if (!(error instanceof Failure) || !["UNAUTHORIZED", "INVALID_BODY"].includes(error.reason)) throw error;
    return { page: await proofPage(context, visit, form, code === "" ? "passkey" : "code") };
  }
}

async function proofPage(
  { peers }: ConsoleContext,
  visit: PersonVisit,
  form: Form,
  wrong?: "passkey" | "code",
): Promise<Page> {
  const texts = textsOf(visit.language).entry;
  const ofProvider = textsOf(visit.language).provider;
  const proof = await peers.signIn.beginProof({ sessionSecret: visit.secret });
  const entries = [...form.entries(), [formFields.token, visit.token] as const];
  const fields = entries.map(([name, value]) => hiddenField(name, value));
  const action = visit.request.url;
  const body = html`<p>${texts.proofText}</p>
${renderAlert(wrong === "passkey" ? texts.passkeyRefused : "")}
${
  proof.challengeId === ""
    ? ""
    : passkeyForm({
        action,
        kind: "get",
        optionsSource: proof,
        names: { challenge: formFields.challenge, response: formFields.response },
        fields,
        label: texts.proofPasskey,
      })
}
${
  proof.takesCode
    ? html`<form method="post" action="${action}">${fields}
${codeField({ name: formFields.code, label: texts.code, problem: wrong === "code" ? texts.codeRefused : "" })}
<button class="button">${texts.proofCode}</button></form>`
    : ""
}${
  proof.takesProvider
    ? html`<p>${providerLink(ofProvider.confirm, { purpose: "prove", to: "/" }, true)}</p><p class="muted">${ofProvider.newTab}</p>
<form method="post" action="${action}">${fields}<button class="button secondary">${ofProvider.continue}</button></form>`
    : ""
}`;
  return cardPage(texts.proofTitle, body, wrong === undefined ? 200 : 422);
}
