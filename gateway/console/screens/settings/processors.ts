// The processor accounts of a merchant, with the primary one.
import { Failure } from "#platform/values/failure.ts";
import { type Connector, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { chip } from "../../view/pieces.ts";
import { section } from "../../view/section.ts";
import { facts, table } from "../../view/table.ts";

export function processorsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/processors", "connectors.read", (visit) => processorsPage(context, visit));
}

async function processorsPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).processors;
  const load = () =>
    Promise.all([
      peers.connectors.listConnectors({ merchantId, environment }),
      peers.merchants.getMerchant({ merchantId, environment }),
    ]);
  const list = await section(language, texts.title, load, ([{ connectors }, { merchant }]) => {
    const failover = merchant?.failoverEnabled ? texts.failoverOn : texts.failoverOff;
    return html`${connectorTable(visit, connectors)}<section class="panel">${facts([[texts.failover, failover]])}</section>`;
  });
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
  return table({
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
export async function connectorOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Connector> {
  const { merchantId, environment } = visit;
  const { connectors } = await peers.connectors.listConnectors({ merchantId, environment });
  const connector = connectors.find(({ id }) => id === paramOf(visit, "id"));
  if (!connector) throw new Failure("NOT_FOUND");
  return connector;
}

export function connectorChip(language: Language, { isDefault, isActive }: Connector): Html {
  const texts = textsOf(language).processors;
  if (!isActive) return chip(texts.inactive, "quiet");
  return isDefault ? chip(texts.primary, "good") : chip(texts.standby, "quiet");
}

export function surfaceName(language: Language, surface: string): string {
  const known = (["embedded", "hosted", "redirect"] as const).find((each) => each === surface);
  return known ? textsOf(language).processors[known] : surface;
}
