// Creates, finds, reads and cancels intents. An intent is a page at Adyen with all attempts there but a second payment,
// or one payment with a stored card.
import { clockNow } from "#platform/values/clock.ts";
import {
  type Connector,
  type CreatedIntent,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
} from "../connector.ts";
import type { Notice } from "../notice-log.ts";
import type { IntentOrder } from "../order.ts";
import { toAdyen } from "./amount.ts";
import type { AdyenClient } from "./client.ts";
import { foldIntent, pageOf, paidRef, writeReference } from "./intent.ts";
import { endPage, linkMount, linkNotice, readPage, withPage } from "./links.ts";
import { declinedAnswer, type Release } from "./modifications.ts";
import type { AnswerLog } from "./notices.ts";
import { linkBody } from "./orders.ts";

type IntentCalls = Pick<Connector, "createIntent" | "findIntent" | "retrieveIntent" | "cancelIntent">;
type Report = ReturnType<Connector["cancelIntent"]>;

export function adyenIntents(client: AdyenClient, log: AnswerLog, release: Release): IntentCalls {
  return {
    createIntent: (account, order, key) => createLink(client, log, account, order, key),
    findIntent: async (account, { reference, renewal }) => {
      const found = await log.ofReference(account, writeReference(reference, renewal));
      const page = pageOf(found);
      const ref = page?.ref ?? found.find(({ kind }) => kind === "AUTHORISATION")?.ref;
      const report = ref === undefined ? undefined : foldIntent(ref, found);
      // Only its lost answer contains the address of a page: no buyer can open it.
      const [at, cause] = [client.time(), new Error("Adyen has not reported this reference")];
      if (!report) return at ? { kind: "not_found", at, cause } : { kind: "unknown", cause };
      if (!page) return { kind: "succeeded", value: { report, mount: noMount } };
      const link = await readPage(client, account, page.ref);
      if (!isKnown(link)) return link;
      return { kind: "succeeded", value: { report: withPage(report, link.value, page), mount: linkMount(link.value) } };
    },
    retrieveIntent: async (account, ref) => {
      const found = await log.about(account, ref);
      const report = foldIntent(ref, found);
      if (!report) return { kind: "unknown", cause: new Error("Adyen has not reported this intent") };
      const page = pageOf(found);
      if (page?.ref !== ref || paidRef(found, ref) !== undefined) return { kind: "succeeded", value: report };
      const link = await readPage(client, account, ref);
      if (isKnown(link)) return { kind: "succeeded", value: withPage(report, link.value, page) };
      // The facts of the webhooks are true without the page.
      return report.facts.length > 0 ? { kind: "succeeded", value: report } : link;
    },
    cancelIntent: async (account, ref, authorized) => {
      const found = await log.about(account, ref);
      const report = foldIntent(ref, found);
      if (!report) return declinedAnswer("not_cancelable", "Adyen has not reported this intent");
      const last = report.facts.at(-1);
      if (last?.kind === "intent_canceled") return { kind: "succeeded", value: report };
      const paid = paidRef(found, ref);
      if (paid !== undefined && last?.kind === "attempt_succeeded") {
        if (last.capturedAmount > 0n || authorized === "keep") return declinedAnswer("not_cancelable", "it is paid");
        const released = await release(account, found, paid);
        return isKnown(released) ? { ...released, value: report } : released;
      }
      const page = pageOf(found);
      return page?.ref === ref
        ? await endLink(client, log, account, page)
        : declinedAnswer("not_cancelable", "it has ended");
    },
  };
}

async function createLink(
  client: AdyenClient,
  log: AnswerLog,
  account: ProcessorAccount,
  order: IntentOrder,
  key: string,
): Promise<ProcessorAnswer<CreatedIntent>> {
  const value = toAdyen(order.amount, order.currency);
  if (typeof value !== "number") return declinedAnswer("amount_not_accepted", `the amount ${value.refused}`);
  if (order.returnUrl === "") return declinedAnswer("return_url_missing", "is required: Adyen's page returns there");
  const { currency } = order;
  const json = linkBody(account, order, { currency, value });
  const call = { method: "POST", path: "/paymentLinks", json, key } as const;
  const ordered = { reference: json.reference, value, currency, manual: order.captureMethod === "manual" };
  const made = linkNotice(await client.call(account.environment, account.credentials, call), ordered);
  if (!isKnown(made)) return made;
  const { notice, link } = made.value;
  await log.keep(account, { ...notice, id: `link:${link.id}`, at: client.time() ?? clockNow() });
  const report = foldIntent(link.id, await log.ofReference(account, json.reference));
  if (!report) return { kind: "unknown", cause: new Error("the payment link has no notice") };
  return { kind: "succeeded", value: { report, mount: linkMount(link) } };
}

async function endLink(client: AdyenClient, log: AnswerLog, account: ProcessorAccount, page: Notice): Report {
  const { ref } = page;
  const ended = await endPage(client, account, ref);
  // A link that has ended, or whose payment is under way, is refused: the link itself shows which.
  const link = ended.kind === "declined" ? await readPage(client, account, ref) : ended;
  if (!isKnown(link)) return link;
  if (link.value.status !== "expired") return declinedAnswer("not_cancelable", "a payment is under way");
  const report = foldIntent(ref, await log.ofReference(account, page.reference));
  if (!report) return { kind: "unknown", cause: new Error("the payment link has no notice") };
  return { kind: "succeeded", value: withPage(report, link.value, page) };
}

const noMount = {
  kind: "redirect",
  publishableKey: "",
  clientSecret: "",
  scriptUrl: "",
  frameUrl: "",
  redirectUrl: "",
} as const;
