// A fresh proof before what is grave: the form is shown again as a page that asks for the passkey or the code, with all
// that was typed in it; what comes back with the proof goes on as if it had been there at once. The company's provider
// proves it in a tab of its own, after which the form is sent on from here.
import { Failure } from "#platform/values/failure.ts";
import type { BeginProofResponse } from "#proto/merchant/v1/people_pb.ts";
import { html } from "../../html.ts";
import { type Form, formFields } from "../http/form.ts";
import { textsOf } from "../texts/texts.ts";
import { hidden, textField } from "../view/fields.ts";
import { passkeyForm, providerLink } from "../view/passkey-form.ts";
import { isProved, personVisit } from "./admit.ts";
import type { ConsoleContext, Page, PersonVisit } from "./visit.ts";

/** Either the visit, proved, or the page that asks. */
export async function requireProof<V extends PersonVisit>(
  context: ConsoleContext,
  visit: V,
  form: Form,
): Promise<{ readonly visit: V } | { readonly page: Page }> {
  // The merchant service looks again by the database's clock wherever it matters.
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
  const typed = [...form.entries(), [formFields.token, visit.token] as const];
  const fields = typed.map(([name, value]) => hidden(name, value));
  const action = visit.request.url;
  return {
    title: texts.proofTitle,
    status: wrong === undefined ? 200 : 422,
    body: html`<div class="card narrow"><h1>${texts.proofTitle}</h1><p>${texts.proofText}</p>
${wrong === "passkey" ? html`<p class="problem" role="alert">${texts.passkeyRefused}</p>` : ""}
${proof.challengeId === "" ? "" : passkeyProof(proof, action, fields, texts.proofPasskey)}
${
  proof.takesCode
    ? html`<form method="post" action="${action}">${fields}
${textField({ name: formFields.code, label: texts.code, value: "", autocomplete: "one-time-code", inputmode: "numeric", required: true, problem: wrong === "code" ? texts.codeRefused : "" })}
<button class="button">${texts.proofCode}</button></form>`
    : ""
}${
  proof.takesProvider
    ? html`<p>${providerLink(ofProvider.prove, { purpose: "prove", to: "/" }, true)}</p><p class="muted">${ofProvider.otherTab}</p>
<form method="post" action="${action}">${fields}<button class="button secondary">${ofProvider.goOn}</button></form>`
    : ""
}</div>`,
  };
}

function passkeyProof(
  optionsSource: BeginProofResponse,
  action: string,
  fields: readonly ReturnType<typeof html>[],
  label: string,
) {
  return passkeyForm({
    action,
    kind: "get",
    optionsSource,
    names: { challenge: formFields.challenge, response: formFields.response },
    fields,
    label,
  });
}
