// Pages for anybody: signing in, invitations, what cannot be shown.
import { type Html, html } from "../../docs/html.ts";
import type { Page, Visit } from "../session/visit.ts";
import { document } from "./document.ts";
import { notice } from "./notice.ts";

export function entryLayout({ language, request }: Pick<Visit, "language" | "request">, page: Page): Html {
  return document({
    language,
    title: page.title,
    tone: "plain",
    header: html`<header class="bar"><a class="brand" href="/">Tollbooth</a></header>`,
    main: html`${notice(language, request)}
${page.body}`,
  });
}
