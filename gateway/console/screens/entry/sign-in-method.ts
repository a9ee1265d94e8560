// Adds a passkey or an authenticator app. New people come here first; others come from their account and give fresh
// proof.
import type { NewSession } from "#proto/merchant/v1/people_pb.ts";
import { html } from "../../../html.ts";
import { formFields, unlessRefused } from "../../http/form.ts";
import { personForm, personPage } from "../../routes.ts";
import type { Answer, ConsoleContext, Page, PersonVisit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { codeField, hidden, renderAlert } from "../../view/fields.ts";
import { cardPage, postForm } from "../../view/forms.ts";
import { passkeyForm, providerLink } from "../../view/passkey-form.ts";
import { qrCode, renderCopyable } from "../../view/pieces.ts";
import { startSession } from "./sign-in.ts";

const fields = { challenge: "challenge_id", response: "response" } as const;
/** A new session has no method to prove itself with. */
const unlessNew = { proof: (visit: PersonVisit) => !visit.session.needsWayIn };

export function signInMethodRoutes(context: ConsoleContext): void {
  const { signIn } = context.peers;
  const form = (path: string, take: Parameters<typeof personForm>[3]) =>
    personForm(context, `/way-in${path}`, unlessNew, take, true);
  const add = async (
    visit: PersonVisit,
    finish: Promise<{ readonly session?: NewSession | undefined }>,
    done: string,
    retry: () => Promise<Page>,
  ): Promise<Answer> => {
    const finished = await unlessRefused(finish, "INVALID_BODY");
    if (!finished) return await retry();
    startSession(context, visit, finished.session);
    return { go: visit.session.needsWayIn ? "/" : "/account", done };
  };
  personPage(context, "/way-in", (visit) => choicePage(context, visit), true);
  form("", (visit) => choicePage(context, visit));
  form("/passkey", (visit, typed) => {
    const finish = signIn.finishPasskey({
      sessionSecret: visit.secret,
      challengeId: typed.raw(fields.challenge),
      responseJson: typed.raw(fields.response),
      name: typed.text("name"),
    });
    const problem = textsOf(visit.language).entry.passkeyRefused;
    return add(visit, finish, "passkey-added", () => choicePage(context, visit, problem));
  });
  form("/authenticator", (visit) => authenticatorPage(context, visit));
  form("/authenticator/code", (visit, typed) => {
    const code = typed.text("code").replace(/\s/g, "");
    const finish = signIn.finishAuthenticator({ sessionSecret: visit.secret, code });
    const problem = textsOf(visit.language).entry.codeRefused;
    return add(visit, finish, "authenticator-added", () => authenticatorPage(context, visit, problem));
  });
}

/** A person with a sign-in method proves themselves first, by the form of this page. */
async function choicePage(context: ConsoleContext, visit: PersonVisit, problem = ""): Promise<Page> {
  const texts = textsOf(visit.language).entry;
  const mayBegin = visit.session.needsWayIn || visit.session.provedUntil !== undefined;
  if (!mayBegin) {
    const begin = { action: "/way-in", fields: [hidden("step", "choose")], button: texts.setUpPasskey };
    return cardPage(texts.methodTitle, html`<p>${texts.passkeyText}</p>${postForm(visit, begin)}`);
  }
  const ofProvider = textsOf(visit.language).provider;
  const optionsSource = await context.peers.signIn.beginPasskey({ sessionSecret: visit.secret });
  const token = hidden(formFields.token, visit.token);
  const body = html`<p>${texts.passkeyText}</p>
${renderAlert(problem)}
${passkeyForm({ action: "/way-in/passkey", kind: "create", optionsSource, names: fields, fields: [token], label: texts.setUpPasskey })}
${context.provider ? html`<p>${providerLink(ofProvider.useAccount, { purpose: "sign-in", to: "/" })}</p><p class="muted">${ofProvider.useAccountText}</p>` : ""}
<details class="more"><summary>${texts.noPasskey}</summary><p>${texts.noPasskeyText}</p>
${postForm(visit, { action: "/way-in/authenticator", fields: [hidden("step", "authenticator")], button: texts.setUpAuthenticator, tone: "secondary" })}</details>`;
  return cardPage(texts.methodTitle, body, problem === "" ? 200 : 422);
}

async function authenticatorPage({ peers }: ConsoleContext, visit: PersonVisit, problem = ""): Promise<Page> {
  const texts = textsOf(visit.language).entry;
  const { secret, uri } = await peers.signIn.beginAuthenticator({ sessionSecret: visit.secret });
  const code = codeField({ name: "code", label: texts.code, problem });
  const body = html`<p>${texts.authenticatorText}</p>
${qrCode(texts.authenticatorQr, uri)}
<p>${texts.authenticatorKey}: ${renderCopyable(visit.language, secret)}</p>
${postForm(visit, { action: "/way-in/authenticator/code", fields: [code], button: texts.authenticatorDone })}`;
  return cardPage(texts.authenticatorTitle, body, problem === "" ? 200 : 422);
}
