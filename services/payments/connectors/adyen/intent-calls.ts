// Creates, finds, reads and cancels intents. An intent is a page at Adyen with all attempts there but a second payment,
// or one payment with a stored card.

import { clockNow } from "#platform/values/clock.ts";
import { declinedAnswer } from "../answer.ts";
import { type Connector, isKnown, type ProcessorAccount } from "../connector.ts";
import type { Notice } from "../notice-log.ts";
import { textOf } from "./attempt.ts";
import type { AdyenClient } from "./client.ts";
import { answerKinds, foldIntent, pageOf, paidRef, writeReference } from "./intent.ts";
import { endPage, linkMount, readPage, withPage } from "./links.ts";
import { createPage } from "./make-page.ts";
import type { Release } from "./modifications.ts";
import type { AnswerLog } from "./notices.ts";
import { sessionEndedAt, sessionMount } from "./sessions.ts";

type IntentCalls = Pick<Connector, "createIntent" | "findIntent" | "retrieveIntent" | "cancelIntent">;
type Report = ReturnType<Connector["cancelIntent"]>;

export function adyenIntents(client: AdyenClient, log: AnswerLog, release: Release): IntentCalls {
  /** The end of an unpaid session; nothing else ends by time alone. */
  const endOf = (page: Notice | undefined) =>
    page?.kind === answerKinds.session ? sessionEndedAt(page, client.time() ?? clockNow()) : undefined;
  return {
    createIntent: (account, order, key) => createPage(client, log, account, order, key),
    findIntent: async (account, { reference, renewal }) => {
      const found = await log.ofReference(account, writeReference(reference, renewal));
      const page = pageOf(found);
      const ref = page?.ref ?? found.find(({ kind }) => kind === "AUTHORISATION")?.ref;
      const report = ref === undefined ? undefined : foldIntent(ref, found, endOf(page));
      // Only its lost answer contains the address of a page: no buyer can open it.
      const [at, cause] = [client.time(), new Error("Adyen has not reported this reference")];
      if (!report) return at ? { kind: "not_found", at, cause } : { kind: "unknown", cause };
      if (!page) return { kind: "succeeded", value: { report, mount: noMount } };
      // The session's data comes again only with the answer of its key.
      const known = { id: page.ref, expiresAt: textOf(page.details, "expiresAt") };
      if (page.kind === answerKinds.session)
        return { kind: "succeeded", value: { report, mount: sessionMount(account, known) } };
      const link = await readPage(client, account, page.ref);
      if (!isKnown(link)) return link;
      return { kind: "succeeded", value: { report: withPage(report, link.value, page), mount: linkMount(link.value) } };
    },
    retrieveIntent: async (account, ref) => {
      const found = await log.about(account, ref);
      const page = pageOf(found);
      const report = foldIntent(ref, found, endOf(page));
      if (!report) return { kind: "unknown", cause: new Error("Adyen has not reported this intent") };
      const isOpenLink = page?.kind === answerKinds.link && page.ref === ref && paidRef(found, ref) === undefined;
      if (!isOpenLink) return { kind: "succeeded", value: report };
      const link = await readPage(client, account, ref);
      if (isKnown(link)) return { kind: "succeeded", value: withPage(report, link.value, page) };
      // The facts of the webhooks are true without the page.
      return report.facts.length > 0 ? { kind: "succeeded", value: report } : link;
    },
    cancelIntent: async (account, ref, authorized) => {
      const found = await log.about(account, ref);
      const page = pageOf(found);
      const report = foldIntent(ref, found, endOf(page));
      if (!report) return declinedAnswer("not_cancelable", "Adyen has not reported this intent");
      const last = report.facts.at(-1);
      if (last?.kind === "intent_canceled") return { kind: "succeeded", value: report };
      const paid = paidRef(found, ref);
      if (paid !== undefined && last?.kind === "attempt_succeeded") {
        if (last.capturedAmount > 0n || authorized === "keep") return declinedAnswer("not_cancelable", "it is paid");
        const released = await release(account, found, paid);
        return isKnown(released) ? { ...released, value: report } : released;
      }
      if (page?.ref !== ref) return declinedAnswer("not_cancelable", "it has ended");
      if (page.kind === answerKinds.link) return await endLink(client, log, account, page);
      if (report.pageEndedAt) return { kind: "succeeded", value: report };
      return declinedAnswer("not_cancelable", "Adyen cannot end a session, and a payment may still be under way");
    },
  };
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
