// The person's own account: name, language, active sessions, and sign-in methods, which can be added and removed.
import type { GetOwnAccessResponse, NewSession } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { formFields, unlessRefused } from "../../http/form.ts";
import { personForm, personPage } from "../../routes.ts";
import type { Answer, ConsoleContext, Page, PersonVisit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { codeField, hiddenField, renderAlert, selectField, textField } from "../../view/fields.ts";
import { cardPage, postForm } from "../../view/forms.ts";
import { passkeyForm, providerLink } from "../../view/passkey-form.ts";
import { qrCode, renderCopyable } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { htmlTable } from "../../view/table.ts";
import { dateTimeText } from "../../view/values.ts";
import { startSession } from "./sign-in.ts";

const needsProof = { proof: () => true };

export function accountRoutes(context: ConsoleContext): void {
  const { peers } = context;
  personPage(context, "/account", (visit) => accountPage(context, visit));
  personForm(context, "/account", {}, async (visit, form) => {
    const name = form.text("name");
    const language = form.text("language");
    const call = peers.signIn.updatePerson({ sessionSecret: visit.secret, name, language });
    const saved = await unlessRefused(call, "INVALID_BODY");
    if (!saved) return await accountPage(context, visit, textsOf(visit.language).account.nameNeeded);
    return { go: "/account", done: "account-saved" };
  });
  personForm(context, "/account/ways/remove", needsProof, async (visit, form) => {
    await peers.signIn.removeWayIn({ sessionSecret: visit.secret, passkeyId: form.raw("passkey_id") });
    return { go: "/account", done: "sign-in-method-removed" };
  });
  personForm(context, "/account/sessions/end", {}, async (visit, form) => {
    await peers.signIn.endSessions({ sessionSecret: visit.secret, sessionId: form.raw("session_id") });
    return { go: "/account", done: "sessions-ended" };
  });
}

async function accountPage({ peers }: ConsoleContext, visit: PersonVisit, problem = ""): Promise<Page> {
  const texts = textsOf(visit.language).account;
  const { person } = visit.session;
  const choices = [
    { value: "", label: texts.automatic },
    { value: "en", label: "English" },
    { value: "de", label: "Deutsch" },
  ];
  const access = () => peers.signIn.getOwnAccess({ sessionSecret: visit.secret });
  return {
    title: texts.title,
    status: problem === "" ? 200 : 422,
    body: html`<div class="card wide"><h1>${texts.title}</h1>
${postForm(visit, {
  fields: [
    textField({
      ...{ name: "name", label: texts.name, value: person?.name ?? "", problem },
      ...{ autocomplete: "name", maxlength: 100, required: true },
    }),
    selectField({ name: "language", label: texts.language, value: person?.language ?? "", choices }),
    html`<p class="muted">${person?.email ?? ""}</p>`,
  ],
  button: texts.save,
})}
${await loadSection(visit.language, texts.methods, access, (found) => html`${renderSignInMethods(visit, found)}${openSessions(visit, found)}`)}</div>`,
  };
}

function renderSignInMethods(visit: PersonVisit, { passkeys, authenticatorSince }: GetOwnAccessResponse): Html {
  const texts = textsOf(visit.language).account;
  const isOnly = passkeys.length + (authenticatorSince ? 1 : 0) < 2;
  const methods = [
    ...passkeys.map((passkey) => ({ ...passkey, name: passkey.name || texts.passkey })),
    ...(authenticatorSince
      ? [{ id: "", name: texts.authenticator, createdAt: authenticatorSince, lastUsedAt: undefined }]
      : []),
  ];
  const remove = (id: string, label: string) =>
    postForm(visit, {
      ...{ action: "/account/ways/remove", fields: [hiddenField("passkey_id", id)], button: texts.remove, label },
      ...{ tone: "secondary", layout: "row" },
    });
  return html`<h2>${texts.methods}</h2>
${htmlTable({
  caption: texts.methods,
  rows: methods,
  empty: "",
  columns: [
    { heading: texts.method, cell: ({ name }) => name },
    { heading: texts.added, cell: ({ createdAt }) => dateTimeText(visit.language, createdAt) },
    { heading: texts.lastUsed, cell: ({ lastUsedAt }) => dateTimeText(visit.language, lastUsedAt) },
    { heading: "", cell: ({ id, name }) => (isOnly ? "" : remove(id, `${texts.remove} ${name}`)) },
  ],
})}
<p><a class="button secondary" href="/way-in">${texts.add}</a></p>`;
}

function openSessions(visit: PersonVisit, { sessions }: GetOwnAccessResponse): Html {
  const texts = textsOf(visit.language).account;
  const end = (id: string, button: string) =>
    postForm(visit, {
      ...{ action: "/account/sessions/end", fields: [hiddenField("session_id", id)], button },
      ...{ tone: "secondary", layout: "row" },
    });
  return html`<h2>${texts.sessions}</h2>
${htmlTable({
  caption: texts.sessions,
  rows: sessions,
  empty: "",
  columns: [
    {
      heading: texts.browser,
      cell: ({ browser, browserName }) =>
        html`<span>${browserName || texts.unknown}<br><span class="muted">${browser?.address ?? ""}</span></span>`,
    },
    { heading: texts.signedIn, cell: ({ createdAt }) => dateTimeText(visit.language, createdAt) },
    { heading: texts.lastUsed, cell: ({ lastUsedAt }) => dateTimeText(visit.language, lastUsedAt) },
    { heading: "", cell: ({ id, isOwn }) => (isOwn ? texts.thisSession : end(id, texts.end)) },
  ],
})}
${sessions.length < 2 ? "" : html`<p>${end("", texts.endOthers)}</p>`}`;
}

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
    const begin = { action: "/way-in", fields: [hiddenField("step", "choose")], button: texts.setUpPasskey };
    return cardPage(texts.methodTitle, html`<p>${texts.passkeyText}</p>${postForm(visit, begin)}`);
  }
  const ofProvider = textsOf(visit.language).provider;
  const optionsSource = await context.peers.signIn.beginPasskey({ sessionSecret: visit.secret });
  const token = hiddenField(formFields.token, visit.token);
  const body = html`<p>${texts.passkeyText}</p>
${renderAlert(problem)}
${passkeyForm({ action: "/way-in/passkey", kind: "create", optionsSource, names: fields, fields: [token], label: texts.setUpPasskey })}
${context.provider ? html`<p>${providerLink(ofProvider.useAccount, { purpose: "sign-in", to: "/" })}</p><p class="muted">${ofProvider.useAccountText}</p>` : ""}
<details class="more"><summary>${texts.noPasskey}</summary><p>${texts.noPasskeyText}</p>
${postForm(visit, { action: "/way-in/authenticator", fields: [hiddenField("step", "authenticator")], button: texts.setUpAuthenticator, tone: "secondary" })}</details>`;
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
