// Finishes an attempt of a session whose buyer came back from the bank's page without the tab that began it: Adyen gets
// the result from here. Its answer is stored as the attempt's; a webhook repeats it.
import { createHash } from "node:crypto";
import { membersOf } from "#platform/values/unchecked.ts";
import type { Connector } from "../connector.ts";
import { type AdyenClient, commandAnswer } from "./client.ts";
import { answerKinds, pageOf, paidRef } from "./intent.ts";
import type { AnswerLog } from "./notices.ts";
import { readAnswer } from "./token-payments.ts";

type Finish = NonNullable<Connector["finishRedirect"]>;

export function redirectFinisher(client: AdyenClient, log: AnswerLog, retrieve: Connector["retrieveIntent"]): Finish {
  return async (account, ref, result) => {
    const found = await log.about(account, ref);
    const page = pageOf(found);
    if (page?.kind !== answerKinds.session || paidRef(found, ref) !== undefined) return await retrieve(account, ref);
    const key = `redirect:${createHash("sha256").update(result).digest("base64url")}`;
    const json = { details: { redirectResult: result } };
    const answer = await log.answerOnce(account, key, async () => {
      const call = { method: "POST", path: "/payments/details", json, key } as const;
      return commandAnswer(await client.call(account.environment, account.credentials, call), (body) => {
        // The result comes from the buyer's address, so it may be another payment's.
        if (membersOf(body).merchantReference !== page.reference) throw new Error("the result is of another payment");
        return readAnswer(body, page.reference, page.details);
      });
    });
    if (answer.kind === "unknown" || answer.kind === "not_sent") return { kind: "unknown", cause: answer.cause };
    // A result that Adyen refuses, such as one that the buyer's own tab has used, changes nothing.
    return await retrieve(account, ref);
  };
}
