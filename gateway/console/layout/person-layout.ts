// Pages of the person's own, at either door: account, ways to sign in, which merchant.
import { type Html, html } from "../../docs/html.ts";
import type { ConsoleContext, Page, PersonVisit } from "../session/visit.ts";
import { document } from "./document.ts";
import { notice } from "./notice.ts";
import { personMenu } from "./person-menu.ts";

export function personLayout({ config }: Pick<ConsoleContext, "config">, visit: PersonVisit, page: Page): Html {
  return document({
    language: visit.language,
    title: page.title,
    tone: config.CONSOLE_DOOR === "operators" ? "operators" : "plain",
    header: html`<header class="bar"><a class="brand" href="/">Tollbooth</a>${personMenu(visit)}</header>`,
    main: html`${notice(visit.language, visit.request)}
${page.body}`,
  });
}
