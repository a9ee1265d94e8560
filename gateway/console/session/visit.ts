// The request and the answer of a screen, with person, rights and language.
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

export interface ConsoleContext {
  readonly app: FastifyInstance;
  readonly peers: ConsolePeers;
  readonly config: ConsoleConfig;
  readonly door: Door;
  readonly cookies: SecretCookies;
  /** Undefined if no identity provider is configured. */
  readonly provider: CompanyProvider | undefined;
  /** Counts a request without a session. */
  readonly countTry: CountTry;
  readonly log: Log;
}

export interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly language: Language;
  /** In which times are shown and days of filters begin. */
  readonly timeZone: string;
}

export interface PersonVisit extends Visit {
  readonly session: ConsoleSession;
  readonly secret: string;
  readonly token: string;
}

export interface MerchantVisit extends PersonVisit {
  readonly membership: Membership;
  readonly merchantId: string;
  readonly environment: Environment;
  /** Start of the addresses of this merchant and environment: `/mer_…/sandbox`. */
  readonly base: string;
  may(action: string): boolean;
}

export interface OperatorVisit extends PersonVisit {
  readonly membership: Membership;
  may(action: string): boolean;
}

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** HTTP status, default 200. A rejected form is shown again with 422. */
  readonly status?: number;
}

/** A redirect after an accepted form. */
export interface Redirect {
  readonly go: string;
  readonly done?: string;
}

export type Answer = Page | Redirect;
