// The person's own account: name, language, sign-in methods and active sessions.
import { browserName } from "#platform/values/browser-name.ts";
import type { GetOwnAccessResponse } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { unlessRefused } from "../../http/form.ts";
import { personForm, personPage } from "../../routes.ts";
import type { ConsoleContext, Page, PersonVisit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { hidden, selectField, textField } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { section } from "../../view/section.ts";
import { table } from "../../view/table.ts";
import { moment } from "../../view/values.ts";

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
${await section(visit.language, texts.methods, access, (found) => html`${renderSignInMethods(visit, found)}${openSessions(visit, found)}`)}</div>`,
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
      ...{ action: "/account/ways/remove", fields: [hidden("passkey_id", id)], button: texts.remove, label },
      ...{ tone: "secondary", layout: "row" },
    });
  return html`<h2>${texts.methods}</h2>
${table({
  caption: texts.methods,
  rows: methods,
  empty: "",
  columns: [
    { heading: texts.method, cell: ({ name }) => name },
    { heading: texts.added, cell: ({ createdAt }) => moment(visit.language, createdAt) },
    { heading: texts.lastUsed, cell: ({ lastUsedAt }) => moment(visit.language, lastUsedAt) },
    { heading: "", cell: ({ id, name }) => (isOnly ? "" : remove(id, `${texts.remove} ${name}`)) },
  ],
})}
<p><a class="button secondary" href="/way-in">${texts.add}</a></p>`;
}

function openSessions(visit: PersonVisit, { sessions }: GetOwnAccessResponse): Html {
  const texts = textsOf(visit.language).account;
  const end = (id: string, button: string) =>
    postForm(visit, {
      ...{ action: "/account/sessions/end", fields: [hidden("session_id", id)], button },
      ...{ tone: "secondary", layout: "row" },
    });
  return html`<h2>${texts.sessions}</h2>
${table({
  caption: texts.sessions,
  rows: sessions,
  empty: "",
  columns: [
    {
      heading: texts.browser,
      cell: ({ browser }) =>
        html`<span>${browserName(browser?.agent ?? "") || texts.unknown}<br><span class="muted">${browser?.address ?? ""}</span></span>`,
    },
    { heading: texts.signedIn, cell: ({ createdAt }) => moment(visit.language, createdAt) },
    { heading: texts.lastUsed, cell: ({ lastUsedAt }) => moment(visit.language, lastUsedAt) },
    { heading: "", cell: ({ id, isOwn }) => (isOwn ? texts.thisSession : end(id, texts.end)) },
  ],
})}
${sessions.length < 2 ? "" : html`<p>${end("", texts.endOthers)}</p>`}`;
}
