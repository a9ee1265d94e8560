// Registering an endpoint and changing one: the same form. A form that is sent twice registers one endpoint, by a key
// that was made with the page.
import { createHash, randomUUID } from "node:crypto";
import { Failure } from "#platform/values/failure.ts";
import type { EventType } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { displayFormats, displayLine } from "../../../http/display-text.ts";
import { paramOf } from "../../http/address.ts";
import { type Form, formFields, isRefused, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField, hidden, problemSummary, textField } from "../../view/fields.ts";
import { secretNeeds, secretPage } from "./signing-secret.ts";

const write = { action: "webhooks.write" };
const descriptionMax = 255;
/** What most shops act on. */
const usual = ["payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed"];

interface FormValues {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
}

interface FormView extends FormValues {
  /** Undefined: a new one. */
  readonly endpointId?: string;
  readonly key?: string;
  readonly wrong?: ReadonlySet<string>;
}

export function webhookFormRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/webhooks/new", "webhooks.write", async (visit) =>
    formPage(context, visit, { url: "", description: "", eventTypes: usual }),
  );
  merchantForm(context, "/webhooks", secretNeeds, async (visit, form) => await register(context, visit, form));
  merchantPage(context, "/webhooks/:id/edit", "webhooks.write", async (visit) => {
    const { merchantId, environment } = visit;
    const { endpoint } = await peers.webhooks.getEndpoint({
      merchantId,
      environment,
      endpointId: paramOf(visit, "id"),
    });
    if (!endpoint) throw new Failure("NOT_FOUND");
    return await formPage(context, visit, { ...endpoint, endpointId: endpoint.id });
  });
  merchantForm(context, "/webhooks/:id/edit", write, async (visit, form) => await change(context, visit, form));
}

async function register(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment } = visit;
  const typed = typedIn(form);
  const key = form.text("key");
  const wrong = wrongOf(typed);
  if (wrong.size > 0) return await formPage(context, visit, { ...typed, key, wrong });
  try {
    const fingerprint = createHash("sha256").update(JSON.stringify(typed)).digest();
    const made = await context.peers.webhooks.createEndpoint({
      merchantId,
      environment,
      ...typed,
      eventTypes: [...typed.eventTypes],
      idempotency: { key, fingerprint },
    });
    return secretPage(visit, made, made.replayed ? "repeatedTitle" : "secretTitle");
  } catch (error) {
    if (error instanceof Failure && error.reason === "IDEMPOTENCY_KEY_REUSE") {
      return await formPage(context, visit, { ...typed, wrong: new Set(["reuse"]) });
    }
    return await formPage(context, visit, { ...typed, key, wrong: refusedFields(error) });
  }
}

async function change(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const typed = typedIn(form);
  const endpointId = paramOf(visit, "id");
  const again = async (wrong: ReadonlySet<string>) => await formPage(context, visit, { ...typed, endpointId, wrong });
  const wrong = wrongOf(typed);
  if (wrong.size > 0) return await again(wrong);
  try {
    const change = { ...typed, eventTypes: [...typed.eventTypes] };
    await context.peers.webhooks.updateEndpoint({ merchantId, environment, endpointId, ...change });
    return { go: `${base}/webhooks/${endpointId}`, done: "endpoint-saved" };
  } catch (error) {
    return await again(refusedFields(error));
  }
}

function typedIn(form: Form): FormValues {
  return { url: form.text("url"), description: form.text("description"), eventTypes: form.all("event_types") };
}

/** What the service would refuse without naming the field. */
function wrongOf({ url, description, eventTypes }: FormValues): Set<string> {
  const isLine = displayFormats[displayLine]?.(description) ?? true;
  return new Set([
    ...(url === "" ? ["url"] : []),
    ...(description.length > descriptionMax || !isLine ? ["description"] : []),
    ...(eventTypes.length === 0 ? ["event_types"] : []),
  ]);
}

async function formPage({ peers }: ConsoleContext, visit: MerchantVisit, shown: FormView): Promise<Page> {
  const { language, base, token } = visit;
  const texts = textsOf(language).webhooks;
  const { eventTypes: catalogue } = await peers.webhooks.listEventTypes({});
  const { wrong = new Set<string>(), endpointId, url, description } = shown;
  const isWrong = (name: string) => isRefused(wrong, name);
  const problems = [
    ...(isWrong("url") ? [["url", texts.urlWrong] as const] : []),
    ...(isWrong("description") ? [["description", texts.descriptionWrong] as const] : []),
    ...(isWrong("event_types") ? [["event_types-0", texts.eventsWrong] as const] : []),
    ...(isWrong("reuse") ? [["url", texts.reuse] as const] : []),
  ];
  const title = endpointId === undefined ? texts.addTitle : texts.editTitle;
  const action = endpointId === undefined ? `${base}/webhooks` : `${base}/webhooks/${endpointId}/edit`;
  const key = endpointId === undefined ? hidden("key", shown.key || randomUUID()) : "";
  return {
    title,
    status: problems.length > 0 ? 422 : 200,
    body: html`<h1>${title}</h1>${problemSummary(textsOf(language).frame.wrongTitle, problems)}
<form method="post" action="${action}" class="panel">${hidden(formFields.token, token)}${key}
${textField({ name: "url", label: texts.url, hint: texts.urlHint, value: url, type: "url", inputmode: "url", maxlength: 2048, required: true, problem: isWrong("url") ? texts.urlWrong : "" })}
${textField({ name: "description", label: texts.description, hint: texts.descriptionHint, value: description, maxlength: descriptionMax, problem: isWrong("description") ? texts.descriptionWrong : "" })}
${eventField(visit, catalogue, shown.eventTypes, isWrong("event_types"))}
<button class="button">${endpointId === undefined ? texts.add : texts.save}</button></form>`,
  };
}

function eventField(
  { language }: MerchantVisit,
  catalogue: readonly EventType[],
  values: readonly string[],
  isWrong: boolean,
): Html {
  const texts = textsOf(language).webhooks;
  // What is never sent yet comes last.
  const ordered = catalogue.toSorted((a, b) => Number(a.isReserved) - Number(b.isReserved));
  return choiceField({
    name: "event_types",
    label: texts.events,
    hint: texts.eventsHint,
    problem: isWrong ? texts.eventsWrong : "",
    values,
    choices: ordered.map(({ code, isReserved }) => ({
      value: code,
      label: code,
      ...(isReserved && { hint: texts.reserved }),
    })),
  });
}
