// The person's own account: name, language, ways to sign in, and the sessions that are open.
import { browserName } from "#platform/values/browser-name.ts";
import type { GetOwnAccessResponse } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { formFields, unlessRefused } from "../../http/form.ts";
import { personForm, personPage } from "../../routes.ts";
import type { ConsoleContext, Page, PersonVisit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { hidden, selectField, textField } from "../../view/fields.ts";
import { section } from "../../view/section.ts";
import { table } from "../../view/table.ts";
import { moment } from "../../view/values.ts";

const grave = { proof: () => true };

export function accountRoutes(context: ConsoleContext): void {
  const { peers } = context;
  personPage(context, "/account", async (visit) => await accountPage(context, visit));
  personForm(context, "/account", {}, async (visit, form) => {
    const name = form.text("name");
    const language = form.text("language");
    const call = peers.signIn.updatePerson({ sessionSecret: visit.secret, name, language });
    const saved = await unlessRefused(call, "INVALID_BODY");
    if (!saved) return await accountPage(context, visit, textsOf(visit.language).account.nameNeeded);
    return { go: "/account", done: "account-saved" };
  });
  personForm(context, "/account/ways/remove", grave, async (visit, form) => {
    await peers.signIn.removeWayIn({ sessionSecret: visit.secret, passkeyId: form.raw("passkey_id") });
    return { go: "/account", done: "way-removed" };
  });
  personForm(context, "/account/sessions/end", {}, async (visit, form) => {
    await peers.signIn.endSessions({ sessionSecret: visit.secret, sessionId: form.raw("session_id") });
    return { go: "/account", done: "sessions-ended" };
  });
}

async function accountPage({ peers }: ConsoleContext, visit: PersonVisit, problem = ""): Promise<Page> {
  const texts = textsOf(visit.language).account;
  const { person } = visit.session;
  const access = () => peers.signIn.getOwnAccess({ sessionSecret: visit.secret });
  return {
    title: texts.title,
    status: problem === "" ? 200 : 422,
    body: html`<div class="card wide"><h1>${texts.title}</h1>
<form method="post">${hidden(formFields.token, visit.token)}
${textField({ name: "name", label: texts.name, value: person?.name ?? "", autocomplete: "name", maxlength: 100, required: true, problem })}
${selectField({
  name: "language",
  label: texts.language,
  value: person?.language ?? "",
  choices: [
    { value: "", label: texts.asBrowser },
    { value: "en", label: "English" },
    { value: "de", label: "Deutsch" },
  ],
})}
<p class="muted">${person?.email ?? ""}</p><button class="button">${texts.save}</button></form>
${await section(visit.language, texts.ways, access, (found) => html`${renderSignInMethods(visit, found)}${openSessions(visit, found)}`)}</div>`,
  };
}

function renderSignInMethods(visit: PersonVisit, { passkeys, authenticatorSince }: GetOwnAccessResponse): Html {
  const texts = textsOf(visit.language).account;
  const isOnly = passkeys.length + (authenticatorSince ? 1 : 0) < 2;
  const methods = [
    ...passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      id,
      name: name || texts.passkey,
      createdAt,
      lastUsedAt,
    })),
    ...(authenticatorSince
      ? [{ id: "", name: texts.authenticator, createdAt: authenticatorSince, lastUsedAt: undefined }]
      : []),
  ];
  return html`<h2>${texts.ways}</h2>
${table({
  caption: texts.ways,
  rows: methods,
  empty: "",
  columns: [
    { heading: texts.way, cell: ({ name }) => name },
    { heading: texts.added, cell: ({ createdAt }) => moment(visit.language, createdAt) },
    { heading: texts.lastUsed, cell: ({ lastUsedAt }) => moment(visit.language, lastUsedAt) },
    {
      heading: "",
      cell: ({ id, name }) =>
        isOnly
          ? ""
          : smallForm(
              visit,
              "/account/ways/remove",
              [hidden("passkey_id", id)],
              `${texts.remove} ${name}`,
              texts.remove,
            ),
    },
  ],
})}
<p><a class="button secondary" href="/way-in">${texts.add}</a></p>`;
}

function openSessions(visit: PersonVisit, { sessions }: GetOwnAccessResponse): Html {
  const texts = textsOf(visit.language).account;
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
    { heading: texts.begun, cell: ({ createdAt }) => moment(visit.language, createdAt) },
    { heading: texts.lastUsed, cell: ({ lastUsedAt }) => moment(visit.language, lastUsedAt) },
    {
      heading: "",
      cell: ({ id, isOwn }) =>
        isOwn
          ? texts.thisOne
          : smallForm(visit, "/account/sessions/end", [hidden("session_id", id)], texts.end, texts.end),
    },
  ],
})}
${sessions.length < 2 ? "" : html`<p>${smallForm(visit, "/account/sessions/end", [hidden("session_id", "")], texts.endOthers, texts.endOthers)}</p>`}`;
}

function smallForm(visit: PersonVisit, action: string, fields: readonly Html[], label: string, text: string): Html {
  return html`<form method="post" action="${action}" class="inline">${hidden(formFields.token, visit.token)}${fields}<button class="button small secondary" aria-label="${label}">${text}</button></form>`;
}
