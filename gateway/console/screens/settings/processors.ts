// The processor accounts of a merchant, and one account: make it primary, choose how customers pay, check it, turn it
// off. Each change redirects money, so each needs fresh proof.
import { requireFound } from "#platform/values/failure.ts";
import { type Connector, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { AccountStatus } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { unlessRefused } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { choiceField } from "../../view/fields.ts";
import { postForm, questionPage } from "../../view/forms.ts";
import { codeBlock, renderCopyable, toneChip } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { routingPanel } from "./routing.ts";

export function processorsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/processors", "connectors.read", (visit) => processorsPage(context, visit));
}

async function processorsPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const { peers } = context;
  const texts = textsOf(language).processors;
  const load = async () => {
    const [{ connectors }, { merchant }] = await Promise.all([
      peers.connectors.listConnectors({ merchantId, environment }),
      peers.merchants.getMerchant({ merchantId, environment }),
    ]);
    return { connectors, routing: await routingPanel(context, visit, connectors, merchant?.currency ?? "EUR") };
  };
  const list = await loadSection(
    language,
    texts.title,
    load,
    ({ connectors, routing }) => html`${connectorTable(visit, connectors)}${routing}`,
  );
  const add = visit.may("connectors.write")
    ? html`<p><a class="button" href="${base}/processors/new">${texts.add}</a></p>`
    : "";
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>${add}${list}`,
  };
}

function connectorTable({ language, base, environment }: MerchantVisit, connectors: readonly Connector[]): Html {
  const texts = textsOf(language).processors;
  return htmlTable({
    caption: texts.title,
    rows: connectors,
    empty: environment === Environment.LIVE ? texts.noneLive : texts.none,
    columns: [
      {
        heading: texts.processor,
        cell: ({ id, connector }) =>
          html`<a href="${base}/processors/${id}">${translateCode(language, "processorNames", connector)}</a>`,
      },
      { heading: texts.account, cell: ({ externalAccountId }) => html`<code>${externalAccountId}</code>` },
      { heading: texts.status, cell: (connector) => connectorChip(language, connector) },
      { heading: texts.surface, cell: ({ surface }) => surfaceName(language, surface) },
    ],
  });
}

/** The account of the address. @throws Failure NOT_FOUND */
export async function connectorOf({ peers }: Pick<ConsoleContext, "peers">, visit: MerchantVisit): Promise<Connector> {
  const { merchantId, environment } = visit;
  const { connectors } = await peers.connectors.listConnectors({ merchantId, environment });
  const connector = requireFound(connectors.find(({ id }) => id === paramOf(visit, "id")));
  return connector;
}

function connectorChip(language: Language, { isDefault, isActive }: Connector): Html {
  const texts = textsOf(language).processors;
  if (!isActive) return toneChip(texts.inactive, "quiet");
  return isDefault ? toneChip(texts.primary, "good") : toneChip(texts.standby, "quiet");
}

function surfaceName(language: Language, surface: string): string {
  const known = (["embedded", "hosted", "redirect"] as const).find((each) => each === surface);
  return known ? textsOf(language).processors[known] : surface;
}

export const processorNeeds = { action: "connectors.write", proof: () => true };

export function processorRoutes(context: ConsoleContext): void {
  merchantPage(context, "/processors/:id", "connectors.read", async (visit) =>
    accountPage(context, visit, await connectorOf(context, visit)),
  );
  merchantPage(context, "/processors/:id/primary", "connectors.write", async (visit) =>
    questionAbout(visit, await connectorOf(context, visit), "primary"),
  );
  merchantForm(context, "/processors/:id/primary", processorNeeds, (visit) =>
    change(context, visit, { makeDefault: true }),
  );
  merchantForm(context, "/processors/:id/surface", processorNeeds, async (visit, form) => {
    const { surface, allowedSurfaces } = await connectorOf(context, visit);
    const chosen = allowedSurfaces.find((each) => each === form.raw("surface")) ?? surface;
    return await change(context, visit, { selectedSurface: chosen });
  });
  merchantForm(context, "/processors/:id/check", { action: "connectors.read" }, (visit) => checkPage(context, visit));
  merchantPage(context, "/processors/:id/deactivate", "connectors.write", async (visit) =>
    questionAbout(visit, await connectorOf(context, visit), "deactivate"),
  );
  merchantForm(context, "/processors/:id/deactivate", processorNeeds, async (visit) => {
    const { merchantId, environment, base } = visit;
    const { id } = await connectorOf(context, visit);
    await context.peers.accounts.deactivateConnectorAccount({ merchantId, environment, connectorId: id });
    return { go: `${base}/processors`, done: "processor-deactivated" };
  });
}

async function change(
  context: ConsoleContext,
  visit: MerchantVisit,
  change: { readonly makeDefault?: boolean; readonly selectedSurface?: string },
): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const { id } = await connectorOf(context, visit);
  const call = context.peers.connectors.updateConnector({ merchantId, environment, connectorId: id, ...change });
  const processorPath = `${base}/processors/${id}`;
  const changed = await unlessRefused(call, "CONNECTOR_NOT_ELIGIBLE");
  return { go: processorPath, done: changed ? "processor-saved" : "processor-refused" };
}

function accountPage({ config }: ConsoleContext, visit: MerchantVisit, account: Connector): Page {
  const { language } = visit;
  const texts = textsOf(language).processors;
  const name = translateCode(language, "processorNames", account.connector);
  // The simulator needs no webhook.
  const webhook =
    account.connector === "simulator"
      ? ""
      : html`<section class="panel"><h2>${texts.webhook}</h2><p class="muted">${texts.webhookText}</p>${codeBlock(language, `${config.API_ORIGIN ?? ""}/processors/${account.connector}/${account.externalAccountId}`)}</section>`;
  return {
    title: `${name} ${account.externalAccountId}`,
    body: html`<h1>${name}</h1>
${factList([
  [texts.status, connectorChip(language, account)],
  [texts.account, renderCopyable(language, account.externalAccountId)],
  [texts.surface, surfaceName(language, account.surface)],
  ["Id", renderCopyable(language, account.id)],
])}
${actions(visit, account)}${visit.may("connectors.write") && account.allowedSurfaces.length > 1 ? surfaceForm(visit, account) : ""}${webhook}`,
  };
}

function actions(visit: MerchantVisit, account: Connector): Html {
  const { language, base } = visit;
  const texts = textsOf(language).processors;
  const processorPath = `${base}/processors/${account.id}`;
  const mayChange = visit.may("connectors.write");
  const primary =
    mayChange && account.isActive && account.canBePrimary && !account.isDefault
      ? html`<a class="button" href="${processorPath}/primary">${texts.makePrimary}</a>`
      : "";
  const rotate =
    mayChange && account.connector !== "simulator"
      ? html`<a class="button secondary" href="${processorPath}/rotate">${texts.rotate}</a>`
      : "";
  const off =
    mayChange && account.isActive
      ? html`<a class="button danger" href="${processorPath}/deactivate">${texts.deactivate}</a>`
      : "";
  const methods = html`<a class="button secondary" href="${processorPath}/methods">${texts.methods}</a>`;
  return html`<div class="actions">${primary}${methods}${postForm(visit, { action: `${processorPath}/check`, button: texts.check, tone: "secondary", layout: "inline" })}${rotate}${off}</div>`;
}

function surfaceForm(visit: MerchantVisit, account: Connector): Html {
  const { language, base } = visit;
  const texts = textsOf(language).processors;
  const field = choiceField({
    ...{ name: "surface", label: texts.chooseSurface, one: true, values: [account.surface] },
    choices: account.allowedSurfaces.map((value) => ({ value, label: surfaceName(language, value) })),
  });
  const action = `${base}/processors/${account.id}/surface`;
  return postForm(visit, { action, fields: [field], button: texts.save, layout: "panel" });
}

function questionAbout(visit: MerchantVisit, account: Connector, about: "primary" | "deactivate"): Page {
  const texts = textsOf(visit.language).processors;
  const isPrimary = about === "primary";
  const name = translateCode(visit.language, "processorNames", account.connector);
  const consequence = isPrimary ? texts.makePrimaryText : texts.deactivateText;
  const back = `${visit.base}/processors/${account.id}`;
  return questionPage(visit, {
    title: isPrimary ? texts.makePrimaryTitle : texts.deactivateTitle,
    text: html`<p><strong>${name}</strong> <code>${account.externalAccountId}</code></p><p>${consequence}</p>`,
    action: `${back}/${about}`,
    button: isPrimary ? texts.makePrimary : texts.deactivate,
    isHarmless: isPrimary,
    back,
  });
}

async function checkPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).processors;
  const { id, connector } = await connectorOf(context, visit);
  const call = context.peers.accounts.checkConnectorAccount({ merchantId, environment, connectorId: id });
  const answer = await unlessRefused(call, "CONNECTOR_ERROR");
  return {
    title: texts.checkTitle,
    body: html`<h1>${texts.checkTitle}</h1><p>${translateCode(language, "processorNames", connector)}</p>
${answer ? reportOf(visit, answer.account) : html`<p class="missing" role="alert">${texts.noAnswer}</p>`}
<p><a class="button" href="${base}/processors/${id}">${texts.toAccount}</a></p>`,
  };
}

function reportOf({ language, environment }: MerchantVisit, account: AccountStatus | undefined): Html {
  const texts = textsOf(language).processors;
  if (!account?.credentialsTaken) return html`<p class="problems" role="alert">${texts.credentialsInvalid}</p>`;
  // A test mode takes payments with any account.
  const tone = account.canCharge ? "good" : environment === Environment.LIVE ? "bad" : "wait";
  return html`<p class="notice" role="status">${texts.credentialsValid}</p>${factList([
    [texts.account, html`<code>${account.externalAccountId}</code>`],
    [texts.displayName, account.displayName],
    [texts.country, account.country],
    [texts.canCharge, toneChip(account.canCharge ? texts.yes : texts.no, tone)],
  ])}`;
}
