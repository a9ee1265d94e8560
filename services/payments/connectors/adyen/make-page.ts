// Makes the page on which the buyer pays: a session, or a payment link. Its answer is stored before it is used.

import { clockNow } from "#platform/values/clock.ts";
import { declinedAnswer } from "../answer.ts";
import { type CreatedIntent, isKnown, type Mount, type ProcessorAccount, type ProcessorAnswer } from "../connector.ts";
import type { IntentOrder } from "../order.ts";
import { toAdyen } from "./amount.ts";
import { type AdyenClient, commandAnswer } from "./client.ts";
import { answerKinds, foldIntent } from "./intent.ts";
import { linkMount, readLink } from "./links.ts";
import type { AnswerLog } from "./notices.ts";
import { linkBody, sessionBody } from "./orders.ts";
import { readSession, sessionMount } from "./sessions.ts";

/** The parts that both kinds of pages have. */
interface Page {
  readonly id: string;
  readonly reference: string;
  readonly amount: { readonly currency: string; readonly value: number };
  readonly expiresAt: string;
}

export async function createPage(
  client: AdyenClient,
  log: AnswerLog,
  account: ProcessorAccount,
  order: IntentOrder,
  key: string,
): Promise<ProcessorAnswer<CreatedIntent>> {
  const value = toAdyen(order.amount, order.currency);
  if (typeof value !== "number") return declinedAnswer("amount_not_accepted", `the amount ${value.refused}`);
  if (order.returnUrl === "") return declinedAnswer("return_url_missing", "is required: Adyen returns buyers there");
  const isSession = order.surface !== "redirect";
  // Adyen's fields do not start without it.
  if (isSession && !account.merchantCountry)
    return { kind: "not_sent", cause: new Error("no country of the merchant") };
  const { currency } = order;
  const amount = { currency, value };
  const json = isSession ? sessionBody(account, order, amount) : linkBody(account, order, amount);
  const call = { method: "POST", path: isSession ? "/sessions" : "/paymentLinks", json, key } as const;
  const made = commandAnswer(await client.call(account.environment, account.credentials, call), (body) => {
    const page = isSession ? sessionPage(account, body) : linkPage(body);
    // Adyen repeats the first answer under a key, whatever is sent.
    const isSame =
      page.reference === json.reference && page.amount.value === value && page.amount.currency === currency;
    if (!isSame) throw new Error("the page is of another order");
    return page;
  });
  if (!isKnown(made)) return made;
  const { id: ref, kind, mount, expiresAt } = made.value;
  const manual = order.captureMethod === "manual";
  const details = { amount: value, currency, manual, ...(isSession && { expiresAt }) };
  const notice = { kind, ref, originalRef: "", reference: json.reference, details };
  await log.keep(account, { ...notice, id: `${kind}:${ref}`, at: client.time() ?? clockNow() });
  const report = foldIntent(ref, await log.ofReference(account, json.reference));
  if (!report) return { kind: "unknown", cause: new Error("the page has no notice") };
  return { kind: "succeeded", value: { report, mount } };
}

type MadePage = Page & { readonly kind: string; readonly mount: Mount };

function sessionPage(account: ProcessorAccount, body: unknown): MadePage {
  const session = readSession(body);
  return { ...session, kind: answerKinds.session, mount: sessionMount(account, session) };
}

function linkPage(body: unknown): MadePage {
  const link = readLink(body);
  return { ...link, kind: answerKinds.link, mount: linkMount(link) };
}
