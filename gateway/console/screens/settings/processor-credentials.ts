// Credentials of a processor account: checked immediately, never shown again. Proof comes before the input, and no page
// carries secret fields (http/form.ts), so no HTML holds a credential.
import { Failure, requireFound } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { type Form, secretPrefix } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import { isProved } from "../../session/admit.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField, problemSummary, textField } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { connectorOf, processorNeeds } from "./processors.ts";

/** The credentials of each processor, in the order of the form. */
const namesOf = {
  stripe: ["secret_key", "publishable_key", "webhook_secret"],
  adyen: ["merchant_account", "api_key", "client_key", "hmac_key", "webhook_user", "webhook_password"],
} as const;
const processors = Object.keys(namesOf) as readonly Processor[];
type Processor = keyof typeof namesOf;
type Name = (typeof namesOf)[Processor][number] | "live_prefix";
/** Not secret. */
const openNames: readonly Name[] = ["merchant_account", "live_prefix", "webhook_user"];
const credentialMax = 1_024;

type Problem = "credentialWrong" | "enterAgain" | "otherAccount" | "notEligible" | "noAnswer";

/** A problem and its fields; no fields mean all of them. */
interface Wrong {
  readonly problem: Problem;
  readonly fields: readonly Name[];
  /** The typed values; only the fields without secrets show them again. */
  readonly typed?: Readonly<Record<string, string>>;
}

export function processorCredentialRoutes(context: ConsoleContext): void {
  merchantPage(context, "/processors/new", "connectors.write", async (visit) => choicePage(visit));
  merchantPage(context, "/processors/new/:processor", "connectors.write", async (visit) =>
    credentialsPage(visit, newAccount(visit)),
  );
  merchantForm(context, "/processors/new/:processor/proof", processorNeeds, async (visit) => ({
    go: `${visit.base}/processors/new/${newAccount(visit).processor}`,
  }));
  merchantForm(context, "/processors/new/:processor", processorNeeds, (visit, form) => add(context, visit, form));
  merchantPage(context, "/processors/:id/rotate", "connectors.write", async (visit) =>
    credentialsPage(visit, await knownAccount(context, visit)),
  );
  merchantForm(context, "/processors/:id/rotate/proof", processorNeeds, async (visit) => ({
    go: `${visit.base}/processors/${(await connectorOf(context, visit)).id}/rotate`,
  }));
  merchantForm(context, "/processors/:id/rotate", processorNeeds, (visit, form) => rotate(context, visit, form));
}

/** The account of a form. */
interface Target {
  readonly processor: Processor;
  /** Undefined: a new one. */
  readonly id: string | undefined;
}

/** @throws Failure NOT_FOUND: no such processor. */
function newAccount(visit: MerchantVisit): Target {
  return { processor: processorOf(paramOf(visit, "processor")), id: undefined };
}

/** @throws Failure NOT_FOUND. */
async function knownAccount(context: ConsoleContext, visit: MerchantVisit): Promise<Target> {
  const { id, connector } = await connectorOf(context, visit);
  // The simulator's credentials have the names of Stripe's.
  return { processor: processorOf(connector === "simulator" ? "stripe" : connector), id };
}

function processorOf(name: string): Processor {
  const found = requireFound(processors.find((each) => each === name));
  return found;
}

function credentialNames({ environment }: MerchantVisit, { processor }: Target): readonly Name[] {
  const hasPrefix = processor === "adyen" && environment === Environment.LIVE;
  return hasPrefix ? [...namesOf[processor], "live_prefix"] : namesOf[processor];
}

function choicePage({ language, base }: MerchantVisit): Page {
  const texts = textsOf(language).processors;
  const links = processors.map(
    (name) =>
      html`<li><a class="button secondary" href="${base}/processors/new/${name}">${translateCode(language, "processorNames", name)}</a></li>`,
  );
  return {
    title: texts.addTitle,
    body: html`<h1>${texts.addTitle}</h1><p class="muted">${texts.chooseProcessor}</p><ul class="plain">${links}</ul>`,
  };
}

async function add({ peers }: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const target = newAccount(visit);
  const names = credentialNames(visit, target);
  const credentials = credentialsIn(form, names);
  if (Object.keys(credentials).length === 0) return credentialsPage(visit, target, enterAgain(names));
  try {
    const added = { connector: target.processor, credentials, makeDefault: form.has("make_default") };
    const { connector } = await peers.accounts.addConnectorAccount({ merchantId, environment, ...added });
    return { go: `${base}/processors/${connector?.id ?? ""}`, done: "processor-added" };
  } catch (error) {
    return credentialsPage(visit, target, { ...wrongOf(error, names), typed: credentials });
  }
}

async function rotate(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const { id: connectorId } = await connectorOf(context, visit);
  const target = await knownAccount(context, visit);
  const names = credentialNames(visit, target);
  const credentials = credentialsIn(form, names);
  if (Object.keys(credentials).length === 0) return credentialsPage(visit, target, enterAgain(names));
  try {
    await context.peers.accounts.rotateConnectorCredentials({ merchantId, environment, connectorId, credentials });
    return { go: `${base}/processors/${connectorId}`, done: "processor-rotated" };
  } catch (error) {
    return credentialsPage(visit, target, { ...wrongOf(error, names), typed: credentials });
  }
}

function enterAgain(names: readonly Name[]): Wrong {
  return { problem: "enterAgain", fields: names };
}

function credentialsIn(form: Form, names: readonly Name[]): Record<string, string> {
  const typed = names.map((name) => [name, form.text(fieldOf(name)).slice(0, credentialMax + 1)] as const);
  return Object.fromEntries(typed.filter(([, value]) => value !== ""));
}

const fieldOf = (name: Name) => `${secretPrefix}${name}`;

/** @throws any error that the form cannot explain */
function wrongOf(error: unknown, names: readonly Name[]): Wrong {
  if (!(error instanceof Failure)) throw error;
  if (error.reason === "CONNECTOR_NOT_ELIGIBLE") return { problem: "notEligible", fields: [] };
  if (error.reason === "CONNECTOR_ERROR") return { problem: "noAnswer", fields: [] };
  if (error.reason !== "INVALID_BODY") throw error;
  const rejected = error.violations.map(({ field }) => field);
  const fields = names.filter((name) => rejected.includes(`credentials.${name}`));
  return fields.length > 0 ? { problem: "credentialWrong", fields } : { problem: "otherAccount", fields: names };
}

function credentialsPage(visit: MerchantVisit, target: Target, wrong?: Wrong): Page {
  const { language, base, session } = visit;
  const texts = textsOf(language).processors;
  const { processor, id } = target;
  const isNew = id === undefined;
  const name = translateCode(language, "processorNames", processor);
  const title = `${isNew ? texts.addTitle : texts.rotate}: ${name}`;
  const action = isNew ? `${base}/processors/new/${processor}` : `${base}/processors/${id}/rotate`;
  if (!isProved(session, Date.now())) return proofFirst(visit, title, `${action}/proof`);
  const names = credentialNames(visit, target);
  const summary = wrong ? [[fieldOf(wrong.fields[0] ?? names[0] ?? "api_key"), texts[wrong.problem]] as const] : [];
  const choices = [{ value: "yes", label: texts.makeDefaultLabel }];
  const makeDefault = choiceField({ name: "make_default", label: texts.makeDefault, values: [], choices });
  const form = postForm(visit, {
    action,
    fields: [...names.map((each) => credentialField(visit, each, isNew, wrong)), ...(isNew ? [makeDefault] : [])],
    button: isNew ? texts.add : texts.rotate,
    layout: "panel",
    link: html`<a href="${base}/processors">${textsOf(language).frame.goBack}</a>`,
  });
  const about = isNew ? html`${texts.addText} ${textsOf(language).credentialPlaces[processor]}` : texts.rotateText;
  return {
    title,
    status: wrong ? 422 : 200,
    body: html`<h1>${title}</h1><p class="muted">${about}</p>
${problemSummary(textsOf(language).frame.problemTitle, summary)}
${form}`,
  };
}

function credentialField({ language }: MerchantVisit, name: Name, isNew: boolean, wrong: Wrong | undefined): Html {
  const texts = textsOf(language).processors;
  const hint = textsOf(language).credentialHints[name];
  const isOpen = openNames.includes(name);
  return textField({
    name: fieldOf(name),
    label: textsOf(language).credentialNames[name],
    hint: isNew ? hint : `${hint} ${texts.keepEmpty}`,
    value: isOpen ? (wrong?.typed?.[name] ?? "") : "",
    type: isOpen ? "text" : "password",
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
