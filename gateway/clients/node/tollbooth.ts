// The Tollbooth library for a merchant's backend: an object per API resource, error classes and webhook verification.
// Requires Node 20 or newer and no other package.
import { Caller } from "./caller.ts";
import { Resources } from "./gen/resources.ts";
import { settingsOf, type TollboothOptions } from "./settings.ts";

export { type AnswerFacts, answerOf } from "./answer.ts";
export type { IdempotentOptions, RequestOptions } from "./caller.ts";
export * from "./errors.ts";
export { type ErrorCode, version } from "./gen/contract.ts";
export * from "./gen/resources.ts";
export * from "./gen/webhook-events.ts";
export { type List, Page } from "./page.ts";
export type { Clock, TollboothOptions } from "./settings.ts";
export { type VerifyOptions, verifyWebhook, verifyWebhookObject, type WebhookObject } from "./webhook.ts";

/**
 * A client for one Tollbooth with one API key. Create it once and reuse it.
 *
 * `const tollbooth = new Tollbooth({ apiKey: process.env.TOLLBOOTH_KEY, baseUrl: "https://pay.example" })`
 */
export class Tollbooth extends Resources {
  /** @throws TypeError for a base URL that is not https (http: localhost only), or a malformed key. */
  constructor(options: TollboothOptions) {
    super(new Caller(settingsOf(options)));
  }
}
