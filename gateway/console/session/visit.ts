// A request of a console as its screens see it: who it is, what they may do, in which language; and what a screen
// answers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#platform/telemetry/log.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ConsoleSession, Door, Membership } from "#proto/merchant/v1/people_pb.ts";
import type { Html } from "../../html.ts";
import type { CountTry } from "../http/stranger-limits.ts";
import type { ConsolePeers } from "../peers.ts";
import type { ConsoleConfig } from "../settings.ts";
import type { Language } from "../texts/texts.ts";
import type { SecretCookies } from "./cookie.ts";
import type { CompanyProvider } from "./provider.ts";

/** What the screens stand on. */
export interface ConsoleContext {
  readonly app: FastifyInstance;
  readonly peers: ConsolePeers;
  readonly config: ConsoleConfig;
  readonly door: Door;
  readonly cookies: SecretCookies;
  /** The company's; undefined: nobody signs in by one. */
  readonly provider: CompanyProvider | undefined;
  /** Of a stranger. */
  readonly countTry: CountTry;
  readonly log: Log;
}

/** Anybody's. */
export interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly language: Language;
}

/** Of somebody who is signed in. */
export interface PersonVisit extends Visit {
  readonly session: ConsoleSession;
  /** Of the cookie; for the calls that carry it. */
  readonly secret: string;
  /** For the forms of the page. */
  readonly token: string;
}

/** At a merchant's address, of a member. */
export interface MerchantVisit extends PersonVisit {
  readonly membership: Membership;
  readonly merchantId: string;
  readonly environment: Environment;
  /** Beginning of every address of this merchant and environment: `/mer_…/sandbox`. */
  readonly base: string;
  may(action: string): boolean;
}

/** At the operators' console. */
export interface OperatorVisit extends PersonVisit {
  readonly membership: Membership;
  may(action: string): boolean;
}

/** A page within the layout of its door. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** HTTP status; default 200. 422: a form that could not be taken, shown again with what was typed. */
  readonly status?: number;
}

/** Another address, by GET: the end of a form that was taken. */
export interface Go {
  readonly go: string;
  /** A key of texts/notices.ts: what was done, told once on the page that follows. */
  readonly done?: string;
}

/** What a screen answers. */
export type Answer = Page | Go;
