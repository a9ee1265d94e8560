// Signing in, and proving oneself again, by the company's identity provider.
import { Failure } from "#platform/values/failure.ts";
import { html } from "../../../html.ts";
import { localPath, queryOf } from "../../http/address.ts";
import { openForm, openPage } from "../../routes.ts";
import { admitPerson } from "../../session/admit.ts";
import { type CompanyProvider, type Errand, NotVouched, ProviderAway, returnPath } from "../../session/provider.ts";
import { carriedBy, resumePage } from "../../session/resume.ts";
import { SignedOut } from "../../session/turned-away.ts";
import type { Answer, ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { providerLink, providerPath } from "../../view/passkey-form.ts";
import { browserOf, signInPage, startSession } from "./sign-in.ts";

/** Long enough for a forgotten password there. */
const journeySeconds = 900;

type Problem = "refused" | "away" | "notProved";

export function providerRoutes(context: ConsoleContext): void {
  const { provider } = context;
  if (!provider) return;
  openPage(context, providerPath, async (visit) => {
    const query = queryOf(visit);
    const errand = {
      purpose: query.get("purpose") === "prove" ? ("prove" as const) : ("sign-in" as const),
      to: localPath(query.get("to") ?? "/"),
    };
    try {
      const { address, cookie } = await provider.begin(errand);
      context.cookies.write(visit.reply, "provider", cookie, journeySeconds);
      return { go: address };
    } catch (error) {
      if (!(error instanceof ProviderAway)) throw error;
      return problemPage(context, visit, "away", error, errand);
    }
  });
  openPage(context, returnPath, async (visit) => await comeBack(context, provider, visit));
  openForm(context, "/sign-in/resume", async (visit, form) => {
    const unsent = carriedBy(form);
    try {
      const person = await admitPerson(context, visit.request, visit.reply);
      return unsent ? resumePage(person, unsent) : { go: "/" };
    } catch (error) {
      if (!(error instanceof SignedOut)) throw error;
      return signInPage(context, visit, { unsent });
    }
  });
}

async function comeBack(context: ConsoleContext, provider: CompanyProvider, visit: Visit): Promise<Answer> {
  const { peers, door, cookies } = context;
  const cookie = cookies.read(visit.request, "provider");
  // One way back for each way there.
  cookies.forget(visit.reply, "provider");
  let errand: Errand | undefined;
  try {
    const found = await provider.finish(visit.request.url, cookie);
    const { idToken, nonce } = found;
    errand = found.errand;
    if (errand.purpose === "prove") {
      const { secret: sessionSecret } = await admitPerson(context, visit.request, visit.reply);
      await peers.signIn.finishProof({ sessionSecret, idToken, nonce });
      return provedPage(visit);
    }
    const browser = browserOf(visit.request);
    const { session } = await peers.signIn.finishProviderSignIn({ door, idToken, nonce, browser });
    const answer = startSession(context, visit, session);
    return "go" in answer && answer.go === "/" ? { go: errand.to } : answer;
  } catch (error) {
    // Its page would be asked for again after the sign-in, with a code that is used up.
    if (error instanceof SignedOut) return { go: "/sign-in" };
    const problem = problemOf(error, errand);
    if (problem === undefined) throw error;
    return problemPage(context, visit, problem, error, errand);
  }
}

function problemOf(error: unknown, errand: Errand | undefined): Problem | undefined {
  if (error instanceof ProviderAway) return "away";
  const isNo = error instanceof NotVouched || (error instanceof Failure && error.reason === "UNAUTHORIZED");
  if (!isNo) return undefined;
  return errand?.purpose === "prove" ? "notProved" : "refused";
}

function provedPage({ language }: Visit): Page {
  const texts = textsOf(language).provider;
  return {
    title: texts.provedTitle,
    body: html`<div class="card narrow"><h1>${texts.provedTitle}</h1><p role="status">${texts.proved}</p></div>`,
  };
}

/** Messages alone: the library's errors hold what came in the address. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const cause = whyOf(error.cause);
  return cause === "" ? error.message : `${error.message}: ${cause}`;
}

function problemPage(
  { log }: ConsoleContext,
  { language, request }: Visit,
  problem: Problem,
  error: unknown,
  errand: Errand = { purpose: "sign-in", to: "/" },
): Page {
  const texts = textsOf(language).provider;
  const level = problem === "away" ? "warn" : "info";
  log[level]({ why: whyOf(error), request_id: request.call.requestId }, "the identity provider signed nobody in");
  return {
    title: texts.refusedTitle,
    status: problem === "away" ? 503 : 422,
    body: html`<div class="card narrow"><h1>${texts.refusedTitle}</h1><p class="problem" role="alert">${texts[problem]}</p>
<p>${providerLink(texts.again, errand)}</p><p><a href="/sign-in">${texts.otherWay}</a></p></div>`,
  };
}
