// A merchant of a run: its key, its endpoint's receiver, its accounts at processors, and its clients' answers.
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Answer, type Api, merchantApi } from "../harness/api.ts";
import type { Receiver } from "../harness/receiver.ts";
import type { StripeAccount } from "../harness/stripe/stripe-account.ts";
import type { Seen } from "./seen.ts";

export interface Shop {
  readonly name: string;
  readonly merchantId: string;
  readonly environment: Environment;
  /** The key that is good now; operators replace it. */
  readonly key: ApiKey;
  /** The public API with that key. */
  readonly api: Api;
  readonly receiver: Receiver;
  readonly signingSecret: string;
  readonly simulator?: SimulatorShop;
  readonly stripe?: StripeShop;
  readonly seen: Seen;
  /**
   * Codes with which an operator's change may have refused something so far: refusals are stored, so they may come
   * again later.
   */
  readonly refusals: Set<string>;
}

export interface SimulatorShop {
  readonly account: string;
  readonly connectorId: string;
  /** The processor's API and test controls, as this account. */
  readonly api: Api;
}

export interface StripeShop {
  readonly account: StripeAccount;
  readonly connectorId: string;
  /** The present secret of its webhooks; operators rotate it. */
  webhookSecret: string;
  /** By intent: how many of its events were never sent. */
  readonly untold: Map<string, number>;
}

export interface ApiKey {
  secret: string;
}

/** Sends the key that is good; a request that a replaced key was refused for goes again with its successor. */
export function keyedApi(baseUrl: string, key: ApiKey): Api {
  const send = async (ask: (api: Api) => Promise<Answer>): Promise<Answer> => {
    const { secret } = key;
    const answer = await ask(merchantApi(baseUrl, secret));
    return answer.status === 401 && key.secret !== secret ? await send(ask) : answer;
  };
  return {
    get: (path, more) => send((api) => api.get(path, more)),
    post: (path, body, more) => send((api) => api.post(path, body, more)),
    patch: (path, body, more) => send((api) => api.patch(path, body, more)),
    put: (path, body, more) => send((api) => api.put(path, body, more)),
    delete: (path, more) => send((api) => api.delete(path, more)),
  };
}
