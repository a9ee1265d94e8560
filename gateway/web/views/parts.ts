// Pieces of the pages that the server renders completely, in the form of the hosted page's screens (page/summary.ts,
// page/messages/message.ts), so that one style sheet serves both.
import { Html, html } from "../../html.ts";
import type { ChosenLanguage } from "../languages.ts";
import { moneyOf } from "../sdk/money.ts";
import { merchantHeader, type PageFiles, pageDocument, type ShellMerchant, supportLine } from "../shell.ts";

/** The seller beneath every page. */
export interface Seller {
  readonly legalName: string;
  readonly termsUrl: string;
  readonly privacyUrl: string;
}

export interface ViewParts {
  readonly language: ChosenLanguage;
  readonly files: PageFiles;
  readonly merchant: ShellMerchant;
  readonly seller: Seller;
  readonly isTest: boolean;
}

export interface OrderLine {
  readonly name: string;
  readonly quantity: number;
  readonly amount: bigint;
}

export interface Order {
  /** Minor units; undefined: the buyer has not chosen it. */
  readonly amount: bigint | undefined;
  readonly currency: string;
  readonly description: string;
  readonly lines: readonly OrderLine[];
}

export function moneyText({ tag }: ChosenLanguage, amount: bigint, currency: string): string {
  return moneyOf(Number(amount), currency, tag).formatted;
}

interface ViewContent {
  readonly title: string;
  readonly order?: Order;
  readonly panel: Html;
  /** Of the panel: the page's script leaves such a page as it is. */
  readonly id: "receipt" | "link";
  /** On a phone, where the message is first otherwise. */
  readonly isOrderFirst?: boolean;
}

export function viewPage(
  { language, files, merchant, seller, isTest }: ViewParts,
  { title, order, panel, id, isOrderFirst }: ViewContent,
): string {
  const { name, email } = merchant;
  return pageDocument({
    ...{ language, merchant, files, isTest, title: `${title} · ${name}` },
    data: { merchant: { name, ...(email && { email }) } },
    main: html`<main id="page" class="${isOrderFirst ? "" : "is-message"}">
${merchantHeader(merchant)}
${order ? orderSection(language, order) : ""}
<section class="panel" id="${id}">${panel}${footer(language, email, seller)}</section>
</main>`,
  });
}

/** A page whose merchant is unknown. */
export function alonePage(language: ChosenLanguage, files: PageFiles, message: ViewMessage): string {
  return pageDocument({
    ...{ language, merchant: undefined, files, isTest: false, title: message.title, data: {} },
    main: html`<main id="page" class="is-alone"><section class="panel" id="link">${viewMessage(message)}</section></main>`,
  });
}

const openMax = 4; // as in page/summary.ts

function orderSection(language: ChosenLanguage, { amount, currency, description, lines }: Order): Html {
  const { texts, tag } = language;
  const money = (sum: bigint) => html`<span class="line-sum">${moneyText(language, sum, currency)}</span>`;
  const count = new Intl.NumberFormat(tag);
  const rows = lines.map(({ name, quantity, amount: sum }) => {
    const times = quantity > 1 ? html` <span class="line-count">× ${count.format(quantity)}</span>` : "";
    return html`<li><span class="line-name"><bdi>${name}</bdi>${times}</span>${money(sum)}</li>`;
  });
  const list = html`<ul>${rows}</ul>`;
  const label = texts.items.replace("{count}", count.format(rows.length));
  const folded = rows.length > openMax ? html`<details open><summary>${label}</summary>${list}</details>` : list;
  const goods =
    rows.length > 0 && amount !== undefined
      ? html`<div class="lines">${folded}<p class="lines-total"><span>${texts.total}</span>${money(amount)}</p></div>`
      : "";
  const total =
    amount === undefined
      ? ""
      : html`<p class="total-label">${texts.total}</p><p class="amount is-long"><bdi>${moneyText(language, amount, currency)}</bdi></p>`;
  const words = description === "" ? "" : html`<p class="description"><bdi>${description}</bdi></p>`;
  return html`<section class="order" aria-label="${texts.total}">${total}${words}${goods}</section>`;
}

export interface ViewMessage {
  readonly sign: "done" | "wait" | "attention";
  readonly title: string;
  readonly text: string;
  /** An element above the facts. */
  readonly notice?: Html | undefined;
  readonly facts?: readonly (readonly [label: string, value: string | Html])[];
  readonly actions?: readonly (Html | string)[];
}

export function viewMessage({ sign, title, text, notice, facts = [], actions = [] }: ViewMessage): Html {
  const rows = facts.map(([label, value]) => html`<div><dt>${label}</dt><dd><bdi>${value}</bdi></dd></div>`);
  const shown = actions.filter((each) => each instanceof Html);
  return html`<div class="message"><div class="sign sign-${sign}" aria-hidden="true"></div>
<h1>${title}</h1><p class="message-text">${text}</p>
${notice ?? ""}${rows.length > 0 ? html`<dl class="facts">${rows}</dl>` : ""}${shown}</div>`;
}

export function backButton(address: string, text: string): Html | string {
  return address === "" ? "" : html`<a class="pay" href="${address}" rel="noreferrer">${text}</a>`;
}

function footer({ texts }: ChosenLanguage, email: string | undefined, seller: Seller): Html {
  const { legalName, termsUrl, privacyUrl } = seller;
  const [before = "", after = ""] = texts.seller.split("{name}");
  const sold = legalName === "" ? [] : [html`<span>${before}<bdi>${legalName}</bdi>${after}</span>`];
  const links = [
    [termsUrl, texts.terms],
    [privacyUrl, texts.privacy],
  ] as const;
  const pages = links.flatMap(([href, label]) =>
    href === "" ? [] : [html`<a href="${href}" target="_blank" rel="noopener noreferrer">${label}</a>`],
  );
  const legal = sold.length + pages.length > 0 ? html`<p class="legal">${[...sold, ...pages]}</p>` : "";
  return html`<footer class="foot">${legal}${supportLine(email, texts.support)}</footer>`;
}
