// Signing in by a link in a mail: asked for with an address, redeemed by a button, in the same browser. Mail scanners
// open links, so opening one does nothing. The browser keeps its secret: one that has used a link is known by it, and
// is sent links also while strangers ask for them.
import { randomBytes } from "node:crypto";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { html } from "../../../html.ts";
import { openForm, openPage } from "../../routes.ts";
import type { ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { textField } from "../../view/fields.ts";
import { browserOf, signInPage, startSession } from "./sign-in.ts";

const browserSecretBytes = 32;
const secretForm = /^[A-Za-z0-9_-]{43}$/;
// It opens nothing without a mailed link. As long as the merchant service knows a browser, and browsers keep a cookie.
const keepSeconds = 400 * 86_400;

export function signInLinkRoutes(context: ConsoleContext): void {
  const { peers, door, cookies } = context;
  openForm(context, "/sign-in/link", async (visit, form) => {
    const kept = cookies.read(visit.request, "sign-in");
    const browserSecret = secretForm.test(kept) ? kept : randomBytes(browserSecretBytes).toString("base64url");
    cookies.write(visit.reply, "sign-in", browserSecret, keepSeconds);
    const { language } = visit;
    try {
      const browser = browserOf(visit.request);
      await peers.signIn.requestSignInLink({ door, email: form.text("email"), browserSecret, language, browser });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.reason === "FEATURE_DISABLED") return signInPage(context, visit, { problem: "noMail" });
      // What cannot be an address is answered as one that is nobody's.
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
        token: tokenOf(visit),
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

function linkPage(visit: Visit, problem?: "linkOver" | "codeNeeded" | "codeRefused"): Page {
  const texts = textsOf(visit.language).entry;
  if (problem === "linkOver") {
    return {
      title: texts.linkTitle,
      status: 422,
      body: html`<div class="card narrow"><h1>${texts.linkTitle}</h1><p class="problem" role="alert">${texts.linkOver}</p><p><a class="button" href="/sign-in">${texts.signInTitle}</a></p></div>`,
    };
  }
  const code = problem && {
    name: "code",
    label: texts.code,
    value: "",
    autocomplete: "one-time-code",
    inputmode: "numeric" as const,
    required: true,
    ...(problem === "codeRefused" ? { problem: texts.codeRefused } : { hint: texts.codeNeeded }),
  };
  return {
    title: texts.linkTitle,
    status: problem ? 422 : 200,
    body: html`<div class="card narrow"><h1>${texts.linkTitle}</h1><p>${texts.linkText}</p>
<form method="post">${code ? textField(code) : ""}<button class="button">${texts.linkButton}</button></form></div>`,
  };
}

function tokenOf({ request }: Visit): string {
  const { token } = membersOf(request.params);
  return typeof token === "string" ? token : "";
}
