// Signs people in by passkey, without asking for an address, or with an emailed link, in the browser that requested it;
// and out. Opening the link does nothing, because mail scanners open links too.

import { randomBytes } from "node:crypto";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { FastifyRequest } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import type { NewSession } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { localPath, paramOf, queryOf } from "../../http/address.ts";
import type { Form } from "../../http/form.ts";
import { openForm, openPage, personForm } from "../../routes.ts";
import { personVisit } from "../../session/admit.ts";
import { resumePage, type UnsentForm, unsentFields, unsentIn } from "../../session/resume.ts";
import type { Answer, ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { codeField, hiddenField, renderAlert, textField } from "../../view/fields.ts";
import { cardPage } from "../../view/forms.ts";
import { passkeyForm, providerLink } from "../../view/passkey-form.ts";

const optionsPath = "/sign-in/passkey/options";
const fields = { challenge: "challenge_id", response: "response" } as const;

export function signInRoutes(context: ConsoleContext): void {
  openPage(context, "/sign-in", async (visit) => {
    return signInPage(context, visit, { to: localPath(queryOf(visit).get("to") ?? "/") });
  });
  // Loaded when the button is pressed, so an open page of a stranger costs no challenge.
  openForm(context, optionsPath, async ({ reply }) => {
    const { challengeId, optionsJson } = await context.peers.signIn.beginPasskeySignIn({ door: context.door });
    const options: unknown = JSON.parse(optionsJson);
    return await reply.header("cache-control", "no-store").send({ challenge_id: challengeId, options });
  });
  openForm(context, "/sign-in/passkey", async (visit, form) => {
    try {
      const { session } = await context.peers.signIn.finishPasskeySignIn({
        door: context.door,
        challengeId: form.raw(fields.challenge),
        responseJson: form.raw(fields.response),
        browser: browserOf(visit.request),
      });
      return startSession(context, visit, session, form);
    } catch (error) {
      if (!(error instanceof Failure) || !["UNAUTHORIZED", "INVALID_BODY"].includes(error.reason)) throw error;
      const carried = { to: localPath(form.raw("to")), unsent: unsentIn(form) };
      return signInPage(context, visit, { ...carried, problem: "passkeyRefused" });
    }
  });
  const signOut = async (visit: { readonly secret: string } & Visit): Promise<Answer> => {
    await context.peers.signIn.signOut({ sessionSecret: visit.secret });
    context.cookies.forget(visit.reply, "session");
    return { go: "/sign-in", done: "signed-out" };
  };
  personForm(context, "/sign-out", {}, signOut, true);
}

interface SignInOptions {
  readonly to?: string;
  /** The form that was sent without a session. */
  readonly unsent?: UnsentForm | undefined;
  readonly problem?: "passkeyRefused" | "noMail";
}

export function signInPage(context: ConsoleContext, visit: Visit, pageOptions: SignInOptions): Page {
  const texts = textsOf(visit.language).entry;
  const optionsSource = { optionsPath, failed: texts.signInFailed };
  const carried = [hiddenField("to", pageOptions.to ?? "/"), ...unsentFields(pageOptions.unsent)];
  const title = pageOptions.unsent ? texts.endedTitle : texts.signInTitle;
  const body = html`<p>${pageOptions.unsent ? texts.endedText : texts.signInText}</p>
${renderAlert(pageOptions.problem ? texts[pageOptions.problem] : "")}
${passkeyForm({ action: "/sign-in/passkey", kind: "get", optionsSource, names: fields, fields: carried, label: texts.signInPasskey })}
${context.provider ? providerOffer(visit, pageOptions) : ""}
<details class="more"${pageOptions.problem === "noMail" ? html` open` : ""}><summary>${texts.signInLinkTitle}</summary><p>${texts.signInLinkText}</p>
<form method="post" action="/sign-in/link">${textField({ name: "email", label: texts.email, value: "", type: "email", autocomplete: "email", required: true })}
<button class="button secondary">${texts.sendLink}</button></form></details>`;
  return cardPage(title, body, pageOptions.problem ? 422 : 200);
}

/** With an unsent form the provider opens in a new tab, and the form stays in this one. */
function providerOffer({ language }: Visit, { to = "/", unsent }: SignInOptions): Html {
  const texts = textsOf(language).provider;
  if (!unsent) return html`<p>${providerLink(texts.signIn, { purpose: "sign-in", to })}</p>`;
  return html`<p>${providerLink(texts.signIn, { purpose: "sign-in", to: "/" }, true)}</p><p class="muted">${texts.newTab}</p>
<form method="post" action="/sign-in/resume">${unsentFields(unsent)}<button class="button secondary">${texts.continue}</button></form>`;
}

/** Sets the session cookie and redirects. A session without a sign-in method adds one first. */
export function startSession(
  context: ConsoleContext,
  visit: Visit,
  { secret, session }: Partial<Pick<NewSession, "secret" | "session">> = {},
  form?: Form,
): Answer {
  if (!secret || !session) throw new Failure("INTERNAL_ERROR", { cause: new Error("sign-in returned no session") });
  context.cookies.write(visit.reply, "session", secret, secondsUntil(session.expiresAt));
  if (session.needsWayIn) return { go: "/way-in" };
  const unsent = form && unsentIn(form);
  if (unsent) return resumePage(personVisit(visit, session, secret), unsent);
  return { go: localPath(form?.raw("to") ?? "/") };
}

/** The cookie ends with the session. Browsers that restore tabs would keep a cookie without an age. */
function secondsUntil(at: Timestamp | undefined): number | undefined {
  return at && Math.max(0, Number(at.seconds) - Math.floor(Date.now() / 1_000));
}

const agentMax = 300;

/** The browser as the person's list of sessions shows it. */
export function browserOf(request: FastifyRequest): { address: string; agent: string } {
  const agent = (request.headers["user-agent"] ?? "").replace(/[^\x20-\x7e]/g, "").slice(0, agentMax);
  return { address: request.ip, agent };
}

const browserSecretBytes = 32;
const secretPattern = /^[A-Za-z0-9_-]{43}$/;
// As long as browsers keep a cookie and the merchant service knows a browser. The secret is useless without a link.
const keepSeconds = 400 * 86_400;

export function signInLinkRoutes(context: ConsoleContext): void {
  const { peers, door, cookies } = context;
  openForm(context, "/sign-in/link", async (visit, form) => {
    const kept = cookies.read(visit.request, "sign-in");
    const browserSecret = secretPattern.test(kept) ? kept : randomBytes(browserSecretBytes).toString("base64url");
    cookies.write(visit.reply, "sign-in", browserSecret, keepSeconds);
    const { language } = visit;
    try {
      const browser = browserOf(visit.request);
      await peers.signIn.requestSignInLink({ door, email: form.text("email"), browserSecret, language, browser });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.reason === "FEATURE_DISABLED") return signInPage(context, visit, { problem: "noMail" });
      // An invalid address gets the same answer as an unknown one.
      if (error.reason !== "INVALID_BODY") throw error;
    }
    return { go: "/sign-in", done: "link-sent" };
  });
  openPage(context, "/sign-in/links/:token", async (visit) => linkPage(visit));
  openForm(context, "/sign-in/links/:token", async (visit, form) => {
    const code = form.text("code").replace(/\s/g, "");
    try {
      const { session } = await peers.signIn.redeemSignInLink({
        door,
        token: paramOf(visit, "token"),
        browserSecret: cookies.read(visit.request, "sign-in"),
        code,
        browser: browserOf(visit.request),
      });
      return startSession(context, visit, session);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.reason === "UNAUTHORIZED") return linkPage(visit, "linkOver");
      if (error.reason === "INVALID_BODY") return linkPage(visit, code === "" ? "codeNeeded" : "codeRefused");
      throw error;
    }
  });
}

function linkPage({ language }: Visit, problem?: "linkOver" | "codeNeeded" | "codeRefused"): Page {
  const texts = textsOf(language).entry;
  const status = problem ? 422 : 200;
  if (problem === "linkOver") {
    const again = html`<p><a class="button" href="/sign-in">${texts.signInTitle}</a></p>`;
    return cardPage(texts.linkTitle, html`${renderAlert(texts.linkOver)}${again}`, status);
  }
  const detail = problem === "codeRefused" ? { problem: texts.codeRefused } : { hint: texts.codeNeeded };
  const code = problem ? codeField({ name: "code", label: texts.code, ...detail }) : "";
  return cardPage(
    texts.linkTitle,
    html`<p>${texts.linkText}</p><form method="post">${code}<button class="button">${texts.linkButton}</button></form>`,
    status,
  );
}
