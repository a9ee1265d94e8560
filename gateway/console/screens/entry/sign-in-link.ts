// Signs in with an emailed link, in the browser that requested it. Opening the link does nothing, because mail scanners
// open links too. A browser that used a link before keeps its secret and gets links even while strangers request them.
import { randomBytes } from "node:crypto";
import { Failure } from "#platform/values/failure.ts";
import { html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { openForm, openPage } from "../../routes.ts";
import type { ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { codeField, renderAlert } from "../../view/fields.ts";
import { cardPage } from "../../view/forms.ts";
import { browserOf, signInPage, startSession } from "./sign-in.ts";

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
