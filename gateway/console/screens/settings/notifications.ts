// The email notifications of the signed-in person about this merchant.
import type { GetNotificationsResponse } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { loadSection } from "../../view/section.ts";

export function notificationsRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/notifications", undefined, (visit) => notificationsPage(context, visit));
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
${await loadSection(language, texts.notifications, load, (found) => notificationsForm(visit, found))}`,
  };
}

function notificationsForm(visit: MerchantVisit, { kinds, isPossible }: GetNotificationsResponse): Html {
  const { language, base } = visit;
  const texts = textsOf(language).profile;
  if (kinds.length === 0) return html`<div class="empty"><p>${texts.noKinds}</p></div>`;
  const field = choiceField({
    ...{ name: "kinds", label: texts.kinds, values: kinds.filter(({ isOn }) => isOn).map(({ name }) => name) },
    choices: kinds.map(({ name }) => ({ value: name, label: kindText(visit, name) })),
  });
  return html`${isPossible ? "" : html`<p class="warning" role="note">${texts.impossible}</p>`}
${postForm(visit, { action: `${base}/notifications`, fields: [field], button: texts.save, layout: "panel" })}`;
}

/** A kind that this release does not know is shown unchanged. */
function kindText({ language }: MerchantVisit, name: string): string {
  const text = new Map<string, unknown>(Object.entries(textsOf(language).profile)).get(name);
  return typeof text === "string" ? text : name;
}
