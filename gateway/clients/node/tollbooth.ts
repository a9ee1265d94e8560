// The Tollbooth library for a merchant's backend: one object for each noun of the API, errors with classes, webhooks
// that are verified. Nothing but Node 20 or newer is needed.
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
export { type VerifyOptions, verifyWebhook } from "./webhook.ts";

/**
 * A client of one Tollbooth with one API key; make one and keep it.
 *
 * `const tollbooth = new Tollbooth({ apiKey: process.env.TOLLBOOTH_KEY, baseUrl: "https://pay.example" })`
 */
export class Tollbooth extends Resources {
  /** @throws TypeError for a base URL that is no https (http: this machine only), or a key that can be none. */
  constructor(options: TollboothOptions) {
    super(new Caller(settingsOf(options)));
  }
}
