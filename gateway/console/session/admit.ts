// Identifies the person of a request and checks their rights. Each request asks the merchant service again, so a
// removed member or a lost right takes effect on the next page.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ConsoleSession, Membership } from "#proto/merchant/v1/people_pb.ts";
import { acceptedLanguages } from "../../web/languages.ts";
import { languageOf } from "../texts/texts.ts";
import { chooseZone, zoneCookie } from "../view/zone.ts";
import { formToken } from "./form-token.ts";
import { MerchantNotActive, SignedOut, SignInMethodRequired } from "./turned-away.ts";
import type { ConsoleContext, MerchantVisit, OperatorVisit, PersonVisit, Visit } from "./visit.ts";

const environments = { sandbox: Environment.SANDBOX, live: Environment.LIVE } as const;
type EnvironmentName = keyof typeof environments;

export function admitAnybody(request: FastifyRequest, reply: FastifyReply): Visit {
  const language = languageOf(acceptedLanguages(request.headers["accept-language"]));
  // Null if the request is refused before its cookies are read.
  return { request, reply, language, timeZone: chooseZone([request.cookies?.[zoneCookie]]) };
}

/**
 * @param mayLackSignInMethod also admits a new session, which can only add a sign-in method
 * @throws SignedOut, SignInMethodRequired, Failure of the merchant service
 */
export async function admitPerson(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  mayLackSignInMethod = false,
): Promise<PersonVisit> {
  const secret = context.cookies.read(request, "session");
  const session = secret === "" ? undefined : await sessionOf(context, secret);
  if (!session?.person) throw new SignedOut(admitAnybody(request, reply));
  const visit = personVisit(admitAnybody(request, reply), session, secret);
  if (session.needsWayIn && !mayLackSignInMethod) throw new SignInMethodRequired();
  return visit;
}

/** Adds the session to a visit, in its person's language. */
export function personVisit(visit: Visit, session: ConsoleSession, secret: string): PersonVisit {
  const chosen = session.person?.language ?? "";
  const language = chosen === "" ? visit.language : languageOf([chosen]);
  return { ...visit, language, session, secret, token: formToken(secret) };
}

/**
 * @param action needed right; undefined admits every member @param place merchant and environment, as in the address
 * @throws Failure NOT_FOUND, also for another merchant's id; FORBIDDEN; MerchantNotActive
 */
export function admitMember(
  visit: PersonVisit,
  action: string | undefined,
  place = membersOf(visit.request.params),
): MerchantVisit {
  const { merchantId, environment: name } = place;
  const isValidPath = typeof merchantId === "string" && isId("merchant", merchantId) && isEnvironmentName(name);
  const membership = visit.session.memberships.find((each) => each.merchantId === merchantId);
  if (!isValidPath || !membership) throw new Failure("NOT_FOUND");
  const may = mayOf(membership);
  if (action !== undefined && !may(action)) {
    throw membership.merchantStatus === "active" ? new Failure("FORBIDDEN") : new MerchantNotActive();
  }
  const base = `/${merchantId}/${name}`;
  const timeZone = chooseZone([membership.merchantTimeZone, visit.timeZone]);
  return { ...visit, timeZone, membership, merchantId, environment: environments[name], base, may };
}

/** @throws Failure FORBIDDEN */
export function admitOperator(visit: PersonVisit, action: string | undefined): OperatorVisit {
  const membership = visit.session.memberships.find((each) => each.merchantId === "");
  if (!membership) throw new Failure("FORBIDDEN");
  const may = mayOf(membership);
  if (action !== undefined && !may(action)) throw new Failure("FORBIDDEN");
  return { ...visit, membership, may };
}

/** True while the last proof of identity is fresh. */
export function isProved(session: ConsoleSession, nowMs: number): boolean {
  return session.provedUntil !== undefined && timestampDate(session.provedUntil).getTime() > nowMs;
}

function mayOf({ actions }: Membership): (action: string) => boolean {
  const held = new Set(actions);
  return (action) => held.has(action);
}

function isEnvironmentName(name: unknown): name is EnvironmentName {
  return name === "sandbox" || name === "live";
}

async function sessionOf({ peers, door }: ConsoleContext, secret: string): Promise<ConsoleSession | undefined> {
  try {
    return (await peers.signIn.getSession({ door, sessionSecret: secret })).session;
  } catch (error) {
    if (error instanceof Failure && ["UNAUTHORIZED", "INVALID_BODY"].includes(error.reason)) return undefined;
    throw error;
  }
}
