// Limits the downloads of this process. All downloads load their pages one at a time, to spare the payments service.
// Each merchant has a few downloads, because each holds two pages in memory.
import { bulkhead } from "cockatiel";
import { retryWhileUnavailable } from "#platform/rpc/client.ts";
import { type CallContext, callContext, renewTime } from "#platform/values/call-context.ts";
import { TooManyFiles } from "../../../session/turned-away.ts";

/** Downloads per merchant and process. */
export const filesMax = 4;

export class Downloads {
  readonly #turns = bulkhead(1, Number.POSITIVE_INFINITY);
  readonly #files = new Map<string, number>();

  /** Starts a download. @returns a function that ends it. @throws TooManyFiles */
  begin(merchantId: string): () => void {
    const files = this.#files.get(merchantId) ?? 0;
    if (files >= filesMax) throw new TooManyFiles();
    this.#files.set(merchantId, files + 1);
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      const left = (this.#files.get(merchantId) ?? 1) - 1;
      if (left > 0) this.#files.set(merchantId, left);
      else this.#files.delete(merchantId);
    };
  }

  /** Loads the first page in turn and fails immediately during an outage. */
  async first<T>(call: CallContext, load: () => Promise<T>): Promise<T> {
    return await this.#inTurn({ ...call }, load);
  }

  /** Loads a later page in turn, with retries during an outage. The request's own deadline has passed by then. */
  async page<T>(call: CallContext, load: () => Promise<T>): Promise<T> {
    const own = { ...call };
    return await callContext.run(own, () => retryWhileUnavailable(() => this.#inTurn(own, load)));
  }

  /** The deadline starts with the turn. The call context is set here, because the previous page starts the turn. */
  async #inTurn<T>(call: CallContext, load: () => Promise<T>): Promise<T> {
    return await this.#turns.execute(() => {
      renewTime(call);
      return callContext.run(call, load);
    });
  }
}
