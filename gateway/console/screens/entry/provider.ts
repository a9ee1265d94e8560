// Signs in with the company's identity provider, or gives fresh proof there.
import { Failure } from "#platform/values/failure.ts";
import { html } from "../../../html.ts";
import { localPath, queryOf } from "../../http/address.ts";
import { openForm, openPage } from "../../routes.ts";
import { admitPerson } from "../../session/admit.ts";
import {
  type CompanyProvider,
  type Errand,
  ProviderUnavailable,
  returnPath,
  SignInRejected,
} from "../../session/provider.ts";
import { resumePage, unsentIn } from "../../session/resume.ts";
import { SignedOut } from "../../session/turned-away.ts";
import type { Answer, ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { renderAlert } from "../../view/fields.ts";
import { cardPage } from "../../view/forms.ts";
import { providerLink, providerPath } from "../../view/passkey-form.ts";
import { browserOf, signInPage, startSession } from "./sign-in.ts";

/** Long enough to reset a password at the provider. */
const journeySeconds = 900;

type Problem = "refused" | "unavailable" | "notConfirmed";

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
      if (!(error instanceof ProviderUnavailable)) throw error;
      return problemPage(context, visit, "unavailable", error, errand);
    }
  });
  openPage(context, returnPath, (visit) => finish(context, provider, visit));
  openForm(context, "/sign-in/resume", async (visit, form) => {
    const unsent = unsentIn(form);
    try {
      const person = await admitPerson(context, visit.request, visit.reply);
      return unsent ? resumePage(person, unsent) : { go: "/" };
    } catch (error) {
      if (!(error instanceof SignedOut)) throw error;
      return signInPage(context, visit, { unsent });
    }
  });
}

async function finish(context: ConsoleContext, provider: CompanyProvider, visit: Visit): Promise<Answer> {
  const { peers, door, cookies } = context;
  const cookie = cookies.read(visit.request, "provider");
  // Each redirect can be finished once.
  cookies.forget(visit.reply, "provider");
  let errand: Errand | undefined;
  try {
    const finished = await provider.finish(visit.request.url, cookie);
    const { idToken, nonce } = finished;
    errand = finished.errand;
    if (errand.purpose === "prove") {
      const { secret: sessionSecret } = await admitPerson(context, visit.request, visit.reply);
      await peers.signIn.finishProof({ sessionSecret, idToken, nonce });
      const texts = textsOf(visit.language).provider;
      return cardPage(texts.confirmedTitle, html`<p role="status">${texts.confirmed}</p>`);
    }
    const browser = browserOf(visit.request);
    const { session } = await peers.signIn.finishProviderSignIn({ door, idToken, nonce, browser });
    const answer = startSession(context, visit, session);
    return "go" in answer && answer.go === "/" ? { go: errand.to } : answer;
  } catch (error) {
    // After a sign-in this address would be loaded again with a used code.
    if (error instanceof SignedOut) return { go: "/sign-in" };
    const problem = problemOf(error, errand);
    if (problem === undefined) throw error;
    return problemPage(context, visit, problem, error, errand);
  }
}

function problemOf(error: unknown, errand: Errand | undefined): Problem | undefined {
  if (error instanceof ProviderUnavailable) return "unavailable";
  const isRejected = error instanceof SignInRejected || (error instanceof Failure && error.reason === "UNAUTHORIZED");
  if (!isRejected) return undefined;
  return errand?.purpose === "prove" ? "notConfirmed" : "refused";
}

/** Messages only: the library's errors hold parts of the address. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const cause = causeOf(error.cause);
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
  const level = problem === "unavailable" ? "warn" : "info";
  log[level]({ cause: causeOf(error), request_id: request.call.requestId }, "provider sign-in failed");
  return cardPage(
    texts.refusedTitle,
    html`${renderAlert(texts[problem])}
<p>${providerLink(texts.tryAgain, errand)}</p><p><a href="/sign-in">${texts.otherMethod}</a></p>`,
    problem === "unavailable" ? 503 : 422,
  );
}
