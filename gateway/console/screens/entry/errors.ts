// Error pages with a reason, a link to the start, the request's id and a signed-in person's menu. A form without a
// session becomes the sign-in page, which carries the form.
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { asFailure, Failure } from "#platform/values/failure.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { sendPage } from "../../http/send-page.ts";
import { entryLayout, merchantLayout, operatorLayout } from "../../layout/layouts.ts";
import { admitAnybody, admitMember, admitOperator, admitPerson } from "../../session/admit.ts";
import { unsentOf } from "../../session/resume.ts";
import {
  ForeignForm,
  MerchantNotActive,
  SignedOut,
  SignInMethodRequired,
  TooManyFiles,
} from "../../session/turned-away.ts";
import type { ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { cardPage } from "../../view/forms.ts";
import { isAway } from "../../view/section.ts";
import { signInPage } from "./sign-in.ts";

const statuses = {
  notFound: 404,
  forbidden: 403,
  merchantNotActive: 403,
  unavailable: 503,
  unavailableForm: 503,
  broken: 500,
  foreignForm: 403,
  tooLarge: 413,
  tooMany: 429,
  tooManyFiles: 429,
};
type ErrorPage = keyof typeof statuses;

export function errorRoutes(context: ConsoleContext): void {
  const { app, log } = context;
  app.setNotFoundHandler(async (request, reply) => await sendErrorPage(context, request, reply, "notFound"));
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    if (error instanceof SignedOut) return await signInAgain(context, error, request, reply);
    if (error instanceof SignInMethodRequired) return await reply.redirect("/way-in", 303);
    const errorPage = errorPageFor(error);
    if (statuses[errorPage] >= 500) {
      log[errorPage === "unavailable" ? "warn" : "error"](
        { err: error, route: request.routeOptions.url, request_id: request.call.requestId },
        "page failed",
      );
    }
    return await sendErrorPage(context, request, reply, errorPage);
  });
}

/** Redirects a page to the sign-in; answers a form with the sign-in page itself. */
async function signInAgain(
  context: ConsoleContext,
  { visit }: SignedOut,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  context.cookies.forget(reply, "session");
  if (request.method === "GET" || request.method === "HEAD") {
    const to = request.url === "/" ? "" : `?${new URLSearchParams({ to: request.url }).toString()}`;
    return await reply.header("cache-control", "no-store").redirect(`/sign-in${to}`, 303);
  }
  const page = signInPage(context, visit, { unsent: unsentOf(request.url, request.body) });
  return await sendPage(reply, 401, entryLayout(visit, page));
}

function errorPageFor(error: unknown): ErrorPage {
  if (error instanceof ForeignForm) return "foreignForm";
  if (error instanceof MerchantNotActive) return "merchantNotActive";
  if (error instanceof TooManyFiles) return "tooManyFiles";
  if (isFastify(error)) return errorPageForStatus(error.statusCode ?? 500);
  const failure = asFailure(error);
  if (failure.reason === "NOT_FOUND" || failure.reason === "INVALID_BODY") return "notFound";
  if (failure.reason === "FORBIDDEN" || failure.reason === "FEATURE_DISABLED") return "forbidden";
  return isAway(failure) ? "unavailable" : "broken";
}

/** A form may have been handled although its service did not answer. */
function errorPageForForm(errorPage: ErrorPage, { method }: FastifyRequest): ErrorPage {
  return errorPage === "unavailable" && method === "POST" ? "unavailableForm" : errorPage;
}

function errorPageForStatus(status: number): ErrorPage {
  if (status === 429) return "tooMany";
  if (status === 413) return "tooLarge";
  // A body with another content type than forms.
  if (status === 415) return "foreignForm";
  return status < 500 ? "notFound" : "broken";
}

function isFastify(error: unknown): error is FastifyError {
  return error instanceof Error && !(error instanceof Failure) && "statusCode" in error;
}

async function sendErrorPage(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  reason: ErrorPage,
): Promise<FastifyReply> {
  const errorPage = errorPageForForm(reason, request);
  // A second lookup of the session would add to an outage or a flood.
  const isLost = statuses[errorPage] === 403 || statuses[errorPage] === 404;
  const { visit, layout } = isLost ? await admitLost(context, request, reply) : admitStranger(request, reply);
  const texts = textsOf(visit.language).entry;
  const page = cardPage(
    texts.errorTitle,
    html`<p>${texts[errorPage]}</p>
<p class="muted">${texts.reference}: <code>${request.call.requestId}</code></p><p><a class="button" href="/">${texts.back}</a></p>`,
  );
  return await sendPage(reply, statuses[errorPage], layout(page));
}

interface LostVisit {
  readonly visit: Visit;
  readonly layout: (page: Page) => Html;
}

/** A member keeps the menu of the merchant that the address names, and an operator theirs. */
async function admitLost(context: ConsoleContext, request: FastifyRequest, reply: FastifyReply): Promise<LostVisit> {
  try {
    const person = await admitPerson(context, request, reply);
    if (context.door === Door.OPERATORS) {
      const visit = admitOperator(person, undefined);
      return { visit, layout: (page) => operatorLayout(visit, page) };
    }
    const [, merchantId, environment] = request.url.split(/[/?]/);
    const visit = admitMember(person, undefined, { merchantId, environment });
    return { visit, layout: (page) => merchantLayout(visit, page, context) };
  } catch {
    return admitStranger(request, reply);
  }
}

function admitStranger(request: FastifyRequest, reply: FastifyReply): LostVisit {
  const visit = admitAnybody(request, reply);
  return { visit, layout: (page) => entryLayout(visit, page) };
}
