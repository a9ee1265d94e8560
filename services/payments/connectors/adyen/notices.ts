// The log of one account's notices, as the connector uses it: what Adyen answered is stored before it is used.
import { clockNow } from "#platform/values/clock.ts";
import type { ProcessorAccount, ProcessorAnswer } from "../connector.ts";
import { isKnown } from "../connector.ts";
import type { Notice, NoticeLog } from "../notice-log.ts";
import type { AdyenClient } from "./client.ts";

/** An answer of Adyen, without the time and the id of its notice. */
export type AnswerNotice = Omit<Notice, "id" | "at">;

export class AnswerLog {
  readonly #log: NoticeLog;
  readonly #client: AdyenClient;

  constructor(log: NoticeLog, client: AdyenClient) {
    this.#log = log;
    this.#client = client;
  }

  /** The stored answer under our key, else Adyen's, which is stored first. */
  async answerOnce(
    account: ProcessorAccount,
    key: string,
    send: () => Promise<ProcessorAnswer<AnswerNotice>>,
  ): Promise<ProcessorAnswer<Notice>> {
    const known = await this.#log.find(account, answerId(key));
    if (known) return { kind: "succeeded", value: known };
    const answer = await send();
    if (!isKnown(answer)) return answer;
    const notice = { ...answer.value, id: answerId(key), at: this.#client.time() ?? clockNow() };
    await this.#log.keep(account, notice);
    return { kind: answer.kind, value: notice };
  }

  async isAnswered(account: ProcessorAccount, key: string): Promise<boolean> {
    return (await this.#log.find(account, answerId(key))) !== undefined;
  }

  keep(account: ProcessorAccount, notice: Notice): Promise<void> {
    return this.#log.keep(account, notice);
  }

  ofReference(account: ProcessorAccount, reference: string): Promise<readonly Notice[]> {
    return this.#log.ofReference(account, reference);
  }

  /** All notices under the payment's reference, of an object of the payment; none: the object is not known. */
  async about(account: ProcessorAccount, ref: string): Promise<readonly Notice[]> {
    const own = await this.#log.ofRef(account, ref);
    const original = own.map(({ originalRef }) => originalRef).find((each) => each !== "");
    const owner = original === undefined ? own : await this.#log.ofRef(account, original);
    const reference = owner.map((each) => each.reference).find((each) => each !== "");
    const all = reference === undefined ? owner : await this.#log.ofReference(account, reference);
    // An object can be reported before its payment, and lack our reference.
    const isThere = (one: Notice) => all.some(({ id }) => id === one.id);
    return [...all, ...own.filter((one) => !isThere(one))];
  }
}

function answerId(key: string): string {
  return `answer:${key}`;
}
