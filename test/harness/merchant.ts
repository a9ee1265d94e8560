// A merchant of its own for a test, so that lists and totals hold nothing of other tests on the same stack.
import { connectPeer } from "#platform/rpc/client.ts";
import { ApiKeyService, Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { type Api, merchantApi } from "./api.ts";

/** A new, active sandbox merchant with a simulator connector. */
export interface TestMerchant {
  id: string;
  apiKey: string;
  /** The public API with its key. */
  api: Api;
}

const everyScope = ["payments:read", "payments:write", "merchant:read", "merchant:write"];

interface KeyChoice {
  readonly scopes?: string[];
  readonly environment?: Environment;
}

/** @param choice scopes of the key (default: all) and its environment (default: sandbox) */
export async function freshMerchant(stack: StackInfo, choice: KeyChoice = {}): Promise<TestMerchant> {
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  try {
    const { merchant } = await peer.client(MerchantService).createMerchant({
      name: "Test Store",
      legalName: "Test Store Ltd",
      email: "owner@example.com",
      country: "US",
      currency: "USD",
    });
    if (!merchant) throw new Error("the merchant service answered without the merchant");
    const apiKey = await freshKey(stack, merchant.id, choice);
    return { id: merchant.id, apiKey, api: merchantApi(stack.gateway, apiKey) };
  } finally {
    peer.close();
  }
}

/** A key that an operator makes. @param choice as of freshMerchant */
export async function freshKey(
  stack: StackInfo,
  merchantId: string,
  { scopes = everyScope, environment = Environment.SANDBOX }: KeyChoice = {},
): Promise<string> {
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  try {
    const input = { merchantId, environment, name: "test", scopes };
    return (await peer.client(ApiKeyService).createApiKey(input)).secret;
  } finally {
    peer.close();
  }
}
