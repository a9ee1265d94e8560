// Adds or edits an endpoint with the same form; a form that is sent twice adds one. Shows its signing secret once, with
// code that verifies signatures, and rolls it.
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Endpoint } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { type Form, isLine, problemsOf, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { choiceField, hiddenField, problemOf, problemSummary, selectField, textFields } from "../../view/fields.ts";
import { postForm, questionPage } from "../../view/forms.ts";
import { codeBlock, secretOnce } from "../../view/pieces.ts";
import { endpointOf } from "./webhooks.ts";

const write = { action: "webhooks.write" };
const descriptionMax = 255;
const defaultEvents = ["payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed"];

interface FormValues {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly payload: string;
}

interface FormView extends FormValues {
  /** Undefined for a new endpoint. */
  readonly endpointId?: string;
  readonly key?: string;
  readonly wrong?: ReadonlySet<string>;
}

export function webhookFormRoutes(context: ConsoleContext): void {
  merchantPage(context, "/webhooks/new", "webhooks.write", async (visit) =>
    formPage(context, visit, { url: "", description: "", eventTypes: defaultEvents, payload: "reference" }),
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
  return {
    url: form.text("url"),
    description: form.text("description"),
    eventTypes: form.all("event_types"),
    payload: form.raw("payload") === "object" ? "object" : "reference",
  };
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
  const { wrong = new Set<string>(), endpointId, url, description, key, eventTypes, payload } = shown;
  const problems = problemsOf(wrong, {
    url: ["url", texts.urlWrong],
    description: ["description", texts.descriptionWrong],
    event_types: ["event_types-0", texts.eventsWrong],
    reuse: ["url", texts.reuse],
  });
  const field = textFields({ url, description }, problems);
  // An event that is not sent yet is offered only where the endpoint has it already, by the API.
  const offered = catalogue.filter(({ code, isReserved }) => !isReserved || eventTypes.includes(code));
  const events = choiceField({
    ...{ name: "event_types", label: texts.events, hint: texts.eventsHint, values: eventTypes },
    problem: problemOf(problems, "event_types-0"),
    choices: offered.map(({ code, isReserved }) => ({
      ...{ value: code, label: code },
      ...(isReserved && { hint: texts.reserved }),
    })),
  });
  const choices = (["reference", "object"] as const).map((value) => ({ value, label: texts[value] }));
  const payloads = choiceField({ name: "payload", label: texts.payload, values: [payload], choices, one: true });
  const isNew = endpointId === undefined;
  const title = isNew ? texts.addTitle : texts.editTitle;
  const form = postForm(visit, {
    action: isNew ? `${base}/webhooks` : `${base}/webhooks/${endpointId}/edit`,
    fields: [
      ...(isNew ? [hiddenField("key", key || randomUUID())] : []),
      field("url", texts.url, { hint: texts.urlHint, type: "url", inputmode: "url", maxlength: 2_048, required: true }),
      field("description", texts.description, { hint: texts.descriptionHint, maxlength: descriptionMax }),
      events,
      payloads,
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

const samplesFolder = join(import.meta.dirname, "../../../docs/samples");
const samples = [
  ["Node", "verify-webhook.mjs"],
  ["Python", "verify_webhook.py"],
  ["Go", "verify_webhook.go"],
] as const;

/** Shops act on events that a live secret signs, so showing one needs fresh proof. */
const secretNeeds = {
  action: "webhooks.write",
  proof: ({ environment }: MerchantVisit) => environment === Environment.LIVE,
};

export function signingSecretRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/webhooks/:id/roll", "webhooks.write", async (visit) => {
    const texts = textsOf(visit.language).webhooks;
    const { id, url } = await endpointOf(context, visit);
    const endpointPath = `${visit.base}/webhooks/${id}`;
    const choices = overlaps.map((value) => ({ value, label: texts[value] }));
    return questionPage(visit, {
      title: texts.rollTitle,
      text: html`<p>${url}</p><p>${texts.rollText}</p>`,
      action: `${endpointPath}/roll`,
      fields: [selectField({ name: "overlap", label: texts.overlap, value: "lastingDay", choices })],
      button: texts.roll,
      isHarmless: true,
      back: endpointPath,
    });
  });
  merchantForm(context, "/webhooks/:id/roll", secretNeeds, async (visit, form) => {
    const { merchantId, environment } = visit;
    const roll = { endpointId: paramOf(visit, "id"), expiresInSeconds: overlapOf(form.raw("overlap")) };
    const rolled = await peers.webhooks.rollEndpointSecret({ merchantId, environment, ...roll });
    return secretPage(visit, rolled, "rolledTitle");
  });
}

/** How long replaced secrets sign on. */
const overlapSeconds = { now: 0, lastingHour: 3_600, lastingDay: 86_400 } as const;
const overlaps = ["now", "lastingHour", "lastingDay"] as const;

function overlapOf(chosen: string): number {
  return overlapSeconds[overlaps.find((each) => each === chosen) ?? "lastingDay"];
}

interface ShownSecret {
  readonly endpoint?: Endpoint | undefined;
  /** Empty: it was shown before. */
  readonly signingSecret: string;
  readonly standardSecret: string;
}

function secretPage(
  { language, base }: MerchantVisit,
  { endpoint, signingSecret, standardSecret }: ShownSecret,
  titleName: "addedTitle" | "rolledTitle" | "repeatedTitle",
): Page {
  const texts = textsOf(language).webhooks;
  const title = texts[titleName];
  const shown =
    signingSecret === ""
      ? html`<p>${texts.repeatedText}</p>`
      : html`${secretOnce(language, texts.secret, signingSecret)}
<details class="more panel"><summary>${texts.standardSecret}</summary>${codeBlock(language, standardSecret)}</details>`;
  return {
    title,
    body: html`<h1>${title}</h1><p>${endpoint?.url ?? ""}</p>${shown}
${verifyingCode(language, true)}
<p><a class="button" href="${base}/webhooks/${endpoint?.id ?? ""}">${texts.toEndpoint}</a></p>`,
  };
}

export function verifyingCode(language: Language, isOpen = false): Html {
  const texts = textsOf(language).webhooks;
  const blocks = samples.map(
    ([name, file], i) =>
      html`<details class="more" name="sample"${i === 0 && isOpen ? html` open` : ""}><summary>${name}</summary>${codeBlock(language, sampleText(file))}</details>`,
  );
  return html`<section class="panel"><h2>${texts.verify}</h2><p class="muted">${texts.verifyText}</p>${blocks}</section>`;
}

const sampleTexts = new Map<string, string>();

function sampleText(file: string): string {
  const text = sampleTexts.get(file) ?? readFileSync(join(samplesFolder, file), "utf8").trimEnd();
  sampleTexts.set(file, text);
  return text;
}
