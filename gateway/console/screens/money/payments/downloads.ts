// The files that are being downloaded from this process. Each reads as fast as its browser takes it, so they read their
// pages one after the other: payments has other work, too. And each holds two pages while its browser takes its time.
import { bulkhead } from "cockatiel";
import { askPatiently } from "#platform/rpc/client.ts";
import { type CallContext, callContext, renewTime } from "#platform/values/call-context.ts";
import { TooManyFiles } from "../../../session/turned-away.ts";

/** Of one merchant, from one process. */
export const filesMax = 4;

export class Downloads {
  readonly #turns = bulkhead(1, Number.POSITIVE_INFINITY);
  readonly #files = new Map<string, number>();

  /** Counts a file of the merchant. @returns ends it. @throws TooManyFiles */
  begin(merchantId: string): () => void {
    const files = this.#files.get(merchantId) ?? 0;
    if (files >= filesMax) throw new TooManyFiles();
    this.#files.set(merchantId, files + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#files.get(merchantId) ?? 1) - 1;
      if (left > 0) this.#files.set(merchantId, left);
      else this.#files.delete(merchantId);
    };
  }

  /** Reads the first page when it is its turn; payments that is away is told at once. */
  async first<T>(call: CallContext, ask: () => Promise<T>): Promise<T> {
    return await this.#inTurn({ ...call }, ask);
  }

  /**
   * Reads a page when it is its turn. It is asked for when the browser wants it, long after the request's own time, and
   * again while payments is away.
   */
  async page<T>(call: CallContext, ask: () => Promise<T>): Promise<T> {
    const own = { ...call };
    return await callContext.run(own, () => askPatiently(() => this.#inTurn(own, ask)));
  }

  /** Its time begins with its turn, and it is asked for by its own call: the turn is begun by the page before it. */
  async #inTurn<T>(call: CallContext, ask: () => Promise<T>): Promise<T> {
    return await this.#turns.execute(() => {
      renewTime(call);
      return callContext.run(call, ask);
    });
  }
}
