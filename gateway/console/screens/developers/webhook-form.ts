// Adds or edits an endpoint with the same form. The page's idempotency key makes a form that is sent twice add one.
import { createHash, randomUUID } from "node:crypto";
import { Failure } from "#platform/values/failure.ts";
import { html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { type Form, isLine, problemsOf, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField, hidden, problemOf, problemSummary, textFields } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { secretNeeds, secretPage } from "./signing-secret.ts";
import { endpointOf } from "./webhooks.ts";

const write = { action: "webhooks.write" };
const descriptionMax = 255;
const defaultEvents = ["payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed"];

interface FormValues {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
}

interface FormView extends FormValues {
  /** Undefined for a new endpoint. */
  readonly endpointId?: string;
  readonly key?: string;
  readonly wrong?: ReadonlySet<string>;
}

export function webhookFormRoutes(context: ConsoleContext): void {
  merchantPage(context, "/webhooks/new", "webhooks.write", async (visit) =>
    formPage(context, visit, { url: "", description: "", eventTypes: defaultEvents }),
  );
  merchantForm(context, "/webhooks", secretNeeds, (visit, form) => add(context, visit, form));
  merchantPage(context, "/webhooks/:id/edit", "webhooks.write", async (visit) => {
    const endpoint = await endpointOf(context, visit);
    return await formPage(context, visit, { ...endpoint, endpointId: endpoint.id });
  });
  merchantForm(context, "/webhooks/:id/edit", write, (visit, form) => change(context, visit, form));
}

async function add(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment } = visit;
  const typed = typedIn(form);
  const key = form.text("key");
  const wrong = wrongOf(typed);
  if (wrong.size > 0) return await formPage(context, visit, { ...typed, key, wrong });
  try {
    const fingerprint = createHash("sha256").update(JSON.stringify(typed)).digest();
    const created = await context.peers.webhooks.createEndpoint({
      ...{ merchantId, environment, ...typed, eventTypes: [...typed.eventTypes] },
      idempotency: { key, fingerprint },
    });
    return secretPage(visit, created, created.replayed ? "repeatedTitle" : "addedTitle");
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
  const again = (wrong: ReadonlySet<string>) => formPage(context, visit, { ...typed, endpointId, wrong });
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

/** Problems that the service would not assign to a field. */
function wrongOf({ url, description, eventTypes }: FormValues): Set<string> {
  return new Set([
    ...(url === "" ? ["url"] : []),
    ...(isLine(description, descriptionMax) ? [] : ["description"]),
    ...(eventTypes.length === 0 ? ["event_types"] : []),
  ]);
}

async function formPage({ peers }: ConsoleContext, visit: MerchantVisit, shown: FormView): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).webhooks;
  const { eventTypes: catalogue } = await peers.webhooks.listEventTypes({});
  const { wrong = new Set<string>(), endpointId, url, description, key, eventTypes } = shown;
  const problems = problemsOf(wrong, {
    url: ["url", texts.urlWrong],
    description: ["description", texts.descriptionWrong],
    event_types: ["event_types-0", texts.eventsWrong],
    reuse: ["url", texts.reuse],
  });
  const field = textFields({ url, description }, problems);
  // Events that are not sent yet come last.
  const ordered = catalogue.toSorted((a, b) => Number(a.isReserved) - Number(b.isReserved));
  const events = choiceField({
    ...{ name: "event_types", label: texts.events, hint: texts.eventsHint, values: eventTypes },
    problem: problemOf(problems, "event_types-0"),
    choices: ordered.map(({ code, isReserved }) => ({
      ...{ value: code, label: code },
      ...(isReserved && { hint: texts.reserved }),
    })),
  });
  const isNew = endpointId === undefined;
  const title = isNew ? texts.addTitle : texts.editTitle;
  const form = postForm(visit, {
    action: isNew ? `${base}/webhooks` : `${base}/webhooks/${endpointId}/edit`,
    fields: [
      ...(isNew ? [hidden("key", key || randomUUID())] : []),
      field("url", texts.url, { hint: texts.urlHint, type: "url", inputmode: "url", maxlength: 2_048, required: true }),
      field("description", texts.description, { hint: texts.descriptionHint, maxlength: descriptionMax }),
      events,
    ],
    button: isNew ? texts.add : texts.save,
    layout: "panel",
  });
  return {
    title,
    status: problems.length > 0 ? 422 : 200,
    body: html`<h1>${title}</h1>${problemSummary(textsOf(language).frame.problemTitle, problems)}
${form}`,
  };
}
