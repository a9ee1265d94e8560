// What has just been done, told once on the page that follows a form: `?done=<key>` in its address.
import type { FastifyRequest } from "fastify";
import { membersOf } from "#platform/values/members.ts";
import { type Html, html } from "../../docs/html.ts";
import type { Language } from "../texts/both.ts";
import { noticeTexts } from "../texts/notices.ts";
import { operatorNoticeTexts } from "../texts/operators/notices.ts";

/** Empty for an address that tells nothing, or nothing that we say. */
export function notice(language: Language, request: Pick<FastifyRequest, "query">): Html | string {
  const { done } = membersOf(request.query);
  const text = typeof done === "string" ? told(language).get(done) : undefined;
  return typeof text === "string" ? html`<p class="notice" role="status">${text}</p>` : "";
}

function told(language: Language): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>(Object.entries({ ...noticeTexts[language], ...operatorNoticeTexts[language] }));
}
