// Stripe's official client over answers that a test writes down itself: no connection, each answer with a time and a
// status of its own.
import Stripe from "stripe";

export interface ScriptedAnswer {
  readonly body: object;
  /** 200 where none is named. */
  readonly status?: number;
  /** Stripe's time. */
  readonly at?: Date;
}

export interface ScriptedStripe {
  readonly sdk: Stripe;
  /** Every request, in the order in which they came. */
  readonly requests: readonly URL[];
}

/** @param answer to a request; `count` is how many came before it */
export function scriptedStripe(answer: (url: URL, count: number) => ScriptedAnswer): ScriptedStripe {
  const requests: URL[] = [];
  const makeRequest = async (host: string, _port: string | number, path: string) => {
    const url = new URL(path, `https://${host}`);
    const { body, status = 200, at } = answer(url, requests.push(url) - 1);
    const headers: Record<string, string> = at ? { date: at.toUTCString() } : {};
    return {
      getStatusCode: () => status,
      getHeaders: () => headers,
      getRawResponse: () => ({ headers, statusCode: status }),
      toStream: () => undefined,
      toJSON: async () => structuredClone(body),
    };
  };
  const httpClient = { getClientName: () => "script", makeRequest };
  return { sdk: new Stripe("sk_test_1", { httpClient, maxNetworkRetries: 0, telemetry: false }), requests };
}

/** A page of one of Stripe's lists. */
export function listPage(data: readonly object[], hasMore = false): ScriptedAnswer["body"] {
  return { object: "list", url: "/v1/list", data, has_more: hasMore };
}
