// Credentials of a processor account: checked immediately, never shown again. Proof comes before the input, and no page
// carries secret fields (http/form.ts), so no HTML holds a credential.
import { Failure } from "#platform/values/failure.ts";
import { type Html, html } from "../../../html.ts";
import { type Form, secretPrefix } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import { isProved } from "../../session/admit.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField, problemSummary, textField } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { connectorOf, processorNeeds } from "./processors.ts";

const names = ["secret_key", "publishable_key", "webhook_secret"] as const;
type Name = (typeof names)[number];
const labels = { secret_key: "secretKey", publishable_key: "publishableKey", webhook_secret: "webhookSecret" } as const;
const hints = {
  secret_key: "secretKeyHint",
  publishable_key: "publishableKeyHint",
  webhook_secret: "webhookSecretHint",
} as const;
const credentialMax = 1_024;

type Problem = "credentialWrong" | "enterAgain" | "otherAccount" | "notEligible" | "noAnswer";

/** A problem and its fields; no fields mean all of them. */
interface Wrong {
  readonly problem: Problem;
  readonly fields: readonly Name[];
}

export function processorCredentialRoutes(context: ConsoleContext): void {
  merchantPage(context, "/processors/new", "connectors.write", async (visit) => credentialsPage(visit, "new"));
  merchantForm(context, "/processors/new/proof", processorNeeds, async ({ base }) => ({
    go: `${base}/processors/new`,
  }));
  merchantForm(context, "/processors/new", processorNeeds, (visit, form) => add(context, visit, form));
  merchantPage(context, "/processors/:id/rotate", "connectors.write", async (visit) => {
    const { id } = await connectorOf(context, visit);
    return credentialsPage(visit, id);
  });
  merchantForm(context, "/processors/:id/rotate/proof", processorNeeds, async (visit) => {
    return { go: `${visit.base}/processors/${(await connectorOf(context, visit)).id}/rotate` };
  });
  merchantForm(context, "/processors/:id/rotate", processorNeeds, (visit, form) => rotate(context, visit, form));
}

async function add({ peers }: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const credentials = credentialsIn(form);
  if (Object.keys(credentials).length === 0) return credentialsPage(visit, "new", again);
  try {
    const added = { connector: "stripe", credentials, makeDefault: form.has("make_default") };
    const { connector } = await peers.accounts.addConnectorAccount({ merchantId, environment, ...added });
    return { go: `${base}/processors/${connector?.id ?? ""}`, done: "processor-added" };
  } catch (error) {
    return credentialsPage(visit, "new", wrongOf(error));
  }
}

async function rotate(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const { id: connectorId } = await connectorOf(context, visit);
  const credentials = credentialsIn(form);
  if (Object.keys(credentials).length === 0) return credentialsPage(visit, connectorId, again);
  try {
    await context.peers.accounts.rotateConnectorCredentials({ merchantId, environment, connectorId, credentials });
    return { go: `${base}/processors/${connectorId}`, done: "processor-rotated" };
  } catch (error) {
    return credentialsPage(visit, connectorId, wrongOf(error));
  }
}

const again: Wrong = { problem: "enterAgain", fields: names };

function credentialsIn(form: Form): Record<string, string> {
  const typed = names.map((name) => [name, form.text(`${secretPrefix}${name}`).slice(0, credentialMax + 1)] as const);
  return Object.fromEntries(typed.filter(([, value]) => value !== ""));
}

/** @throws any error that the form cannot explain */
function wrongOf(error: unknown): Wrong {
  if (!(error instanceof Failure)) throw error;
  if (error.reason === "CONNECTOR_NOT_ELIGIBLE") return { problem: "notEligible", fields: [] };
  if (error.reason === "CONNECTOR_ERROR") return { problem: "noAnswer", fields: [] };
  if (error.reason !== "INVALID_BODY") throw error;
  const rejected = error.violations.map(({ field }) => field);
  const fields = names.filter((name) => rejected.includes(`credentials.${name}`));
  return fields.length > 0 ? { problem: "credentialWrong", fields } : { problem: "otherAccount", fields: names };
}

/** @param target `new`, or the id of the account whose credentials are replaced */
function credentialsPage(visit: MerchantVisit, target: string, wrong?: Wrong): Page {
  const { language, base, session } = visit;
  const texts = textsOf(language).processors;
  const isNew = target === "new";
  const title = isNew ? texts.addTitle : texts.rotate;
  const action = isNew ? `${base}/processors/new` : `${base}/processors/${target}/rotate`;
  if (!isProved(session, Date.now())) return proofFirst(visit, title, `${action}/proof`);
  const summary = wrong ? [[`${secretPrefix}${wrong.fields[0] ?? names[0]}`, texts[wrong.problem]] as const] : [];
  const choices = [{ value: "yes", label: texts.makeDefaultLabel }];
  const makeDefault = choiceField({ name: "make_default", label: texts.makeDefault, values: [], choices });
  const form = postForm(visit, {
    action,
    fields: [...names.map((name) => credentialField(visit, name, isNew, wrong)), ...(isNew ? [makeDefault] : [])],
    button: isNew ? texts.add : texts.rotate,
    layout: "panel",
    link: html`<a href="${base}/processors">${textsOf(language).frame.goBack}</a>`,
  });
  return {
    title,
    status: wrong ? 422 : 200,
    body: html`<h1>${title}</h1><p class="muted">${isNew ? texts.addText : texts.rotateText}</p>
${problemSummary(textsOf(language).frame.problemTitle, summary)}
${form}`,
  };
}

function credentialField({ language }: MerchantVisit, name: Name, isNew: boolean, wrong: Wrong | undefined): Html {
  const texts = textsOf(language).processors;
  return textField({
    name: `${secretPrefix}${name}`,
    label: texts[labels[name]],
    hint: isNew ? texts[hints[name]] : `${texts[hints[name]]} ${texts.keepEmpty}`,
    value: "",
    type: "password",
    maxlength: credentialMax,
    required: isNew,
    problem: wrong?.fields.includes(name) ? texts[wrong.problem] : "",
  });
}

function proofFirst(visit: MerchantVisit, title: string, action: string): Page {
  const texts = textsOf(visit.language).processors;
  return {
    title,
    body: html`<div class="panel question"><h1>${texts.proofTitle}</h1><p>${texts.proofText}</p>
${postForm(visit, { action, button: texts.proofButton })}</div>`,
  };
}
