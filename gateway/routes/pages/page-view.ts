// Language, merchant and look, which every page of a merchant shows. Forms of these pages are sent as browsers send
// them, without a script.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GetBrandingResponse } from "#proto/merchant/v1/merchant_pb.ts";
import { optionalField } from "../../../services/public-json/field.ts";
import { errorAnswer } from "../../failures.ts";
import { html } from "../../html.ts";
import { presentBranding } from "../../json/branding.ts";
import { brandingQuery } from "../../web/branding/branding-query.ts";
import { acceptedLanguages, type ChosenLanguage, chooseLanguage } from "../../web/languages.ts";
import type { PageFiles, ShellMerchant } from "../../web/shell.ts";
import { alonePage, type Seller } from "../../web/views/parts.ts";

const tokenMax = 64; // characters; ours have 43
const formMaxBytes = 4 * 1_024; // a token or an amount

export function isToken(value: unknown): value is string {
  return typeof value === "string" && value.length <= tokenMax;
}

/** @param locale of the session or link; may be empty */
export function languageOf(request: Pick<FastifyRequest, "query" | "headers">, locale: string): ChosenLanguage {
  const { locale: asked } = request.query as Readonly<Record<string, unknown>>;
  const accepted = acceptedLanguages(request.headers["accept-language"]);
  return chooseLanguage([...(typeof asked === "string" ? [asked] : []), locale, ...accepted]);
}

export function shellMerchant({ branding, merchantName }: GetBrandingResponse): ShellMerchant {
  const view = presentBranding(branding);
  return {
    name: view.display_name ?? merchantName,
    tagline: view.tagline,
    logoUrl: view.logo_url,
    email: view.support_email,
    theme: view.theme ?? "light",
    brandingQuery: brandingQuery({
      ...optionalField("theme", view.theme),
      ...optionalField("accentColor", view.accent_color),
      ...optionalField("secondaryColor", view.secondary_color),
      ...optionalField("buttonStyle", view.button_style),
      ...optionalField("backgroundStyle", view.background_style),
      ...optionalField("fontFamily", view.font_family),
    }),
  };
}

export function sellerOf({ branding, legalName }: GetBrandingResponse): Seller {
  return { legalName, termsUrl: branding?.termsUrl ?? "", privacyUrl: branding?.privacyUrl ?? "" };
}

/** Sends the page, or one that explains an outage or a limit. @throws all other errors */
export async function sendView(
  request: Pick<FastifyRequest, "query" | "headers">,
  reply: FastifyReply,
  { locale, files }: { readonly locale: string; readonly files: PageFiles },
  view: () => Promise<string>,
): Promise<FastifyReply> {
  try {
    return await reply.send(await view());
  } catch (error) {
    const { status, headers } = errorAnswer(error);
    if (![429, 502, 503].includes(status)) throw error;
    const language = languageOf(request, locale);
    const { serverTitle: title, serverText, rateLimited, retry } = language.texts;
    const text = status === 429 ? rateLimited : serverText;
    const actions = [html`<a class="pay" href="">${retry}</a>`];
    return await reply
      .code(status)
      .headers(headers)
      .send(alonePage(language, files, { sign: "attention", title, text, actions }));
  }
}

type FormRequest<P> = FastifyRequest<{ Params: P; Body: URLSearchParams | undefined }>;

/** Adds a route for a form; its body is the form's fields. */
export function formRoute<P>(
  app: FastifyInstance,
  url: string,
  handle: (request: FormRequest<P>, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string" },
      async (_request: unknown, body: string | Buffer) => new URLSearchParams(String(body)),
    );
    scope.post<{ Params: P; Body: URLSearchParams | undefined }>(url, { bodyLimit: formMaxBytes }, handle);
    done();
  });
}
