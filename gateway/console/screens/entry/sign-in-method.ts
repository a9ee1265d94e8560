// Adding a way to sign in: a passkey, or for whom that is impossible an authenticator app. New people come here first;
// others from their account, with a fresh proof.
import { renderSVG } from "uqr";
import { Failure } from "#platform/values/failure.ts";
import { Html, html } from "../../../html.ts";
import { formFields } from "../../http/form.ts";
import { personForm, personPage } from "../../routes.ts";
import type { ConsoleContext, Page, PersonVisit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { hidden, textField } from "../../view/fields.ts";
import { passkeyForm, providerLink } from "../../view/passkey-form.ts";
import { renderCopyable } from "../../view/pieces.ts";
import { startSession } from "./sign-in.ts";

const fields = { challenge: "challenge_id", response: "response" } as const;
/** A new session has nothing to prove itself with. */
const unlessNew = { proof: (visit: PersonVisit) => !visit.session.needsWayIn };

export function signInMethodRoutes(context: ConsoleContext): void {
  const { peers } = context;
  personPage(context, "/way-in", async (visit) => await choicePage(context, visit), true);
  personForm(context, "/way-in", unlessNew, async (visit) => await choicePage(context, visit), true);
  personForm(
    context,
    "/way-in/passkey",
    unlessNew,
    async (visit, form) => {
      try {
        const { session } = await peers.signIn.finishPasskey({
          sessionSecret: visit.secret,
          challengeId: form.raw(fields.challenge),
          responseJson: form.raw(fields.response),
          name: form.text("name"),
        });
        startSession(context, visit, session);
        return { go: visit.session.needsWayIn ? "/" : "/account", done: "passkey-added" };
      } catch (error) {
        if (!(error instanceof Failure) || error.reason !== "INVALID_BODY") throw error;
        return await choicePage(context, visit, textsOf(visit.language).entry.passkeyRefused);
      }
    },
    true,
  );
  personForm(
    context,
    "/way-in/authenticator",
    unlessNew,
    async (visit) => await authenticatorPage(context, visit),
    true,
  );
  personForm(
    context,
    "/way-in/authenticator/code",
    unlessNew,
    async (visit, form) => {
      const code = form.text("code").replace(/\s/g, "");
      try {
        const { session } = await peers.signIn.finishAuthenticator({ sessionSecret: visit.secret, code });
        startSession(context, visit, session);
        return { go: visit.session.needsWayIn ? "/" : "/account", done: "authenticator-added" };
      } catch (error) {
        if (!(error instanceof Failure) || error.reason !== "INVALID_BODY") throw error;
        return await authenticatorPage(context, visit, textsOf(visit.language).entry.codeRefused);
      }
    },
    true,
  );
}

/** Who has a way in already proves themselves first, by the form that this page then is. */
async function choicePage(context: ConsoleContext, visit: PersonVisit, problem = ""): Promise<Page> {
  const texts = textsOf(visit.language).entry;
  const mayBegin = visit.session.needsWayIn || visit.session.provedUntil !== undefined;
  if (!mayBegin) {
    return {
      title: texts.wayTitle,
      body: html`<div class="card narrow"><h1>${texts.wayTitle}</h1><p>${texts.wayText}</p>
<form method="post" action="/way-in">${hidden(formFields.token, visit.token)}${hidden("step", "choose")}<button class="button">${texts.wayPasskey}</button></form></div>`,
    };
  }
  const ofProvider = textsOf(visit.language).provider;
  const { challengeId, optionsJson } = await context.peers.signIn.beginPasskey({ sessionSecret: visit.secret });
  const token = hidden(formFields.token, visit.token);
  return {
    title: texts.wayTitle,
    status: problem === "" ? 200 : 422,
    body: html`<div class="card narrow"><h1>${texts.wayTitle}</h1><p>${texts.wayText}</p>
${problem === "" ? "" : html`<p class="problem" role="alert">${problem}</p>`}
${passkeyForm({ action: "/way-in/passkey", kind: "create", optionsSource: { optionsJson, challengeId }, names: fields, fields: [token], label: texts.wayPasskey })}
${context.provider ? html`<p>${providerLink(ofProvider.wayIn, { purpose: "sign-in", to: "/" })}</p><p class="muted">${ofProvider.wayInText}</p>` : ""}
<details class="more"><summary>${texts.wayOther}</summary><p>${texts.wayOtherText}</p>
<form method="post" action="/way-in/authenticator">${token}${hidden("step", "authenticator")}<button class="button secondary">${texts.wayAuthenticator}</button></form></details></div>`,
  };
}

async function authenticatorPage({ peers }: ConsoleContext, visit: PersonVisit, problem = ""): Promise<Page> {
  const texts = textsOf(visit.language).entry;
  const { secret, uri } = await peers.signIn.beginAuthenticator({ sessionSecret: visit.secret });
  // Drawn by the library from the address alone; it holds no text of anybody's.
  const picture = new Html(renderSVG(uri, { border: 2 }));
  return {
    title: texts.authenticatorTitle,
    status: problem === "" ? 200 : 422,
    body: html`<div class="card narrow"><h1>${texts.authenticatorTitle}</h1><p>${texts.authenticatorText}</p>
<div class="qr" role="img" aria-label="${texts.authenticatorQr}">${picture}</div>
<p>${texts.authenticatorKey}: ${renderCopyable(visit.language, secret)}</p>
<form method="post" action="/way-in/authenticator/code">${hidden(formFields.token, visit.token)}
${textField({ name: "code", label: texts.code, value: "", autocomplete: "one-time-code", inputmode: "numeric", required: true, problem })}
<button class="button">${texts.authenticatorDone}</button></form></div>`,
  };
}
