// The mailbox's pages: the list, a mail as text and as HTML, and JSON for tests. HTML mail is shown in a frame without
// scripts, and its links open in a new tab.

import type { FastifyReply } from "fastify";
import Fastify from "fastify";
import { Html, html } from "../../../gateway/html.ts";
import type { KeptMail, Mails } from "./mails.ts";

const shownMax = 100;
const policy =
  "default-src 'none'; style-src 'self'; img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const mailPolicy =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; frame-ancestors 'self'";

const style = `:root{color-scheme:light dark}body{max-width:60rem;margin:0 auto;padding:1rem;font:100%/1.5 system-ui,sans-serif}
ul{padding:0;list-style:none}li a{display:block;padding:.75rem;border-bottom:1px solid #8884;color:inherit;text-decoration:none}
small{color:GrayText}iframe{width:100%;height:32rem;border:1px solid #8886;background:#fff}pre{padding:1rem;overflow:auto;border:1px solid #8886;white-space:pre-wrap}`;

export async function servePages(
  { HOST, PORT }: { readonly HOST: string; readonly PORT: number },
  mails: Mails,
): Promise<{ close(): Promise<void> }> {
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.get("/style.css", async (_request, reply) => reply.type("text/css").send(style));
  app.get("/", async (_request, reply) => {
    const kept = await mails.list(shownMax);
    const items = kept.map(
      (each) =>
        html`<li><a href="/mails/${each.id}"><strong>${subjectOf(each)}</strong><br><small>${toOf(each)} · ${dateOf(each)}</small></a></li>`,
    );
    const list =
      items.length === 0
        ? html`<p>No mail yet. Invitations, sign-in links and notices of this stack come here.</p>`
        : html`<ul>${items}</ul>`;
    return await sendHtml(
      reply,
      page("Mailbox", html`<h1>Mailbox</h1><p>All mail of this local stack. Reload for newer ones.</p>${list}`),
    );
  });
  app.get<{ Params: { id: string } }>("/mails/:id", async (request, reply) => {
    const kept = await mails.find(request.params.id);
    if (!kept) return await reply.code(404).send("no such mail\n");
    const asHtml = typeof kept.mail.html === "string";
    return await sendHtml(
      reply,
      page(
        subjectOf(kept),
        html`<p><a href="/">Mailbox</a></p><h1>${subjectOf(kept)}</h1><p><small>${toOf(kept)} · ${dateOf(kept)}</small></p>
${asHtml ? html`<iframe src="/mails/${kept.id}/html" title="The mail" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>` : ""}
<h2>As text</h2><pre>${linked(kept.mail.text ?? "")}</pre>`,
      ),
    );
  });
  app.get<{ Params: { id: string } }>("/mails/:id/html", async (request, reply) => {
    const kept = await mails.find(request.params.id);
    if (!kept || typeof kept.mail.html !== "string") return await reply.code(404).send("no such mail\n");
    const text = `<base target="_blank">${kept.mail.html}`;
    return await reply.header("content-security-policy", mailPolicy).type("text/html; charset=utf-8").send(text);
  });
  app.get("/mails.json", async () => (await mails.list(shownMax)).map(asJson));
  await app.listen({ host: HOST, port: PORT });
  return { close: async () => await app.close() };
}

async function sendHtml(reply: FastifyReply, made: Html): Promise<FastifyReply> {
  return await reply
    .header("content-security-policy", policy)
    .header("cache-control", "no-store")
    .type("text/html; charset=utf-8")
    .send(made.text);
}

function page(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"></head><body><main>${body}</main></body></html>
`;
}

/** Text with its URLs as links. */
function linked(text: string): Html {
  const parts = text.split(/(https?:\/\/[^\s<>"]+)/);
  const shown = parts.map((piece, i) =>
    i % 2 === 1 ? html`<a href="${piece}" rel="noreferrer">${piece}</a>` : html`${piece}`,
  );
  return new Html(shown.map((piece) => piece.text).join(""));
}

function asJson(kept: KeptMail): Record<string, unknown> {
  const { mail } = kept;
  const headers = Object.fromEntries(mail.headerLines.map(({ key, line }) => [key, line.slice(key.length + 1).trim()]));
  return {
    id: kept.id,
    to: toOf(kept),
    subject: subjectOf(kept),
    text: mail.text ?? "",
    html: mail.html || "",
    headers,
  };
}

function subjectOf({ mail }: KeptMail): string {
  return mail.subject ?? "(no subject)";
}

function toOf({ mail }: KeptMail): string {
  return [mail.to ?? []]
    .flat()
    .map(({ text }) => text)
    .join(", ");
}

function dateOf({ mail }: KeptMail): string {
  return mail.date ? `${mail.date.toISOString().slice(0, 16).replace("T", " ")} UTC` : "";
}
