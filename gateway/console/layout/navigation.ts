// The navigation of both consoles, each item with the right that it needs.
import { type Html, html } from "../../html.ts";
import type { MerchantVisit, OperatorVisit } from "../session/visit.ts";
import { type Catalogue, textsOf } from "../texts/texts.ts";

type Label = keyof Catalogue["frame"];

interface NavigationItem {
  readonly path: string;
  readonly label: Label;
  /** Default: every member sees it. */
  readonly action?: string;
}

interface Group {
  readonly label: Label;
  readonly items: readonly NavigationItem[];
}

export const merchantNavigation: readonly Group[] = [
  {
    label: "money",
    items: [
      { path: "/home", label: "home" },
      { path: "/payments", label: "payments", action: "payments.read" },
      { path: "/refunds", label: "refunds", action: "payments.read" },
      { path: "/disputes", label: "disputes", action: "payments.read" },
      { path: "/balance", label: "balance", action: "payments.read" },
      { path: "/payouts", label: "payouts", action: "payments.read" },
      { path: "/reports", label: "reports", action: "payments.export" },
      { path: "/links", label: "links", action: "payments.read" },
      { path: "/checkouts", label: "checkouts", action: "payments.read" },
    ],
  },
  {
    label: "developers",
    items: [
      { path: "/webhooks", label: "webhooks", action: "webhooks.read" },
      { path: "/keys", label: "keys", action: "keys.read" },
      { path: "/requests", label: "requests", action: "logs.read" },
      { path: "/events", label: "events", action: "logs.read" },
    ],
  },
  {
    label: "settings",
    items: [
      { path: "/branding", label: "branding" },
      { path: "/processors", label: "processors", action: "connectors.read" },
      { path: "/team", label: "team", action: "team.read" },
      { path: "/profile", label: "profile" },
      { path: "/notifications", label: "notifications" },
      { path: "/privacy", label: "privacy", action: "profile.write" },
      { path: "/audit", label: "audit", action: "audit.read" },
    ],
  },
];

export const operatorNavigation: readonly Group[] = [
  {
    label: "merchants",
    items: [
      { path: "/overview", label: "home", action: "merchants.read" },
      { path: "/merchants", label: "merchants", action: "merchants.read" },
      { path: "/applications", label: "applications", action: "applications.read" },
    ],
  },
  {
    label: "money",
    items: [
      { path: "/operations", label: "operations", action: "operations.read" },
      { path: "/suspense", label: "suspense", action: "operations.read" },
      { path: "/statements", label: "statements", action: "statements.read" },
      { path: "/journal", label: "journal", action: "journal.read" },
      { path: "/fees", label: "fees", action: "fees.read" },
    ],
  },
  {
    label: "installation",
    items: [
      { path: "/circuits", label: "circuits", action: "operations.read" },
      { path: "/risk", label: "risk", action: "risk.read" },
      { path: "/team", label: "team", action: "team.read" },
      { path: "/audit", label: "audit", action: "audit.read" },
    ],
  },
];

export interface Badge {
  readonly text: string;
  /** For screen readers. */
  readonly label: string;
}

/** @param badges by path */
export function renderNavigation(
  groups: readonly Group[],
  base: string,
  visit: MerchantVisit | OperatorVisit,
  badges: ReadonlyMap<string, Badge> = new Map(),
): Html {
  const texts = textsOf(visit.language).frame;
  const here = visit.request.url.split("?")[0] ?? "";
  const link = ({ path, label }: NavigationItem) => {
    const address = `${base}${path}`;
    const isHere = here === address || here.startsWith(`${address}/`);
    const badge = badges.get(path);
    const shown = badge
      ? html` <span class="badge" aria-hidden="true">${badge.text}</span><span class="visually-hidden">${badge.label}</span>`
      : "";
    return html`<li><a href="${address}"${isHere ? html` aria-current="page"` : ""}>${texts[label]}${shown}</a></li>`;
  };
  const shown = groups.map(({ label, items }) => ({
    label,
    items: items.filter(({ action }) => action === undefined || visit.may(action)),
  }));
  return html`<nav class="places" aria-label="${texts.navigation}">${shown
    .filter(({ items }) => items.length > 0)
    .map(({ label, items }) => html`<div><h2>${texts[label]}</h2><ul>${items.map(link)}</ul></div>`)}</nav>`;
}
