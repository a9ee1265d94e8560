// What the person who is signed in gets mail about, of this merchant. Everybody chooses for themselves.
import type { GetNotificationsResponse } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { formFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField, hidden } from "../../view/fields.ts";
import { section } from "../../view/section.ts";

export function notificationsRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/notifications", undefined, async (visit) => await notificationsPage(context, visit));
  merchantForm(context, "/notifications", {}, async (visit, form) => {
    const { secret: sessionSecret, merchantId, base } = visit;
    await peers.people.updateNotifications({ sessionSecret, merchantId, kinds: [...form.all("kinds")] });
    return { go: `${base}/notifications`, done: "notifications-saved" };
  });
}

async function notificationsPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, secret: sessionSecret, merchantId } = visit;
  const texts = textsOf(language).profile;
  const load = () => peers.people.getNotifications({ sessionSecret, merchantId });
  return {
    title: texts.notifications,
    body: html`<h1>${texts.notifications}</h1><p class="muted">${texts.notificationsAbout}</p>
${await section(language, texts.notifications, load, (found) => formOf(visit, found))}`,
  };
}

function formOf(visit: MerchantVisit, { kinds, isPossible }: GetNotificationsResponse): Html {
  const { language, base, token } = visit;
  const texts = textsOf(language).profile;
  if (kinds.length === 0) return html`<div class="empty"><p>${texts.noKinds}</p></div>`;
  return html`${isPossible ? "" : html`<p class="warning" role="note">${texts.impossible}</p>`}
<form method="post" action="${base}/notifications" class="panel">${hidden(formFields.token, token)}
${choiceField({
  name: "kinds",
  label: texts.kinds,
  values: kinds.filter(({ isOn }) => isOn).map(({ name }) => name),
  choices: kinds.map(({ name }) => ({ value: name, label: kindText(visit, name) })),
})}<button class="button">${texts.save}</button></form>`;
}

/** A kind that this release does not know is shown by its own name. */
function kindText({ language }: MerchantVisit, name: string): string {
  const text = new Map<string, unknown>(Object.entries(textsOf(language).profile)).get(name);
  return typeof text === "string" ? text : name;
}
