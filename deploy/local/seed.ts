// The sandbox merchant of a local stack and its API key, created through the merchant service's API and then kept. An
// emptied database gets new ones.
import { join } from "node:path";
import { connectPeer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import {
  ApiKeyService,
  type CreateMerchantResponse,
  Environment,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { readObject, writePrivate } from "./state/private-file.ts";

/** The merchant of the printed examples. */
export interface SandboxMerchant {
  merchantId: string;
  /** Has every scope. */
  apiKey: string;
}

const scopes = ["payments:read", "payments:write", "merchant:read", "merchant:write"];

/** @param url of the merchant service; @param token of the operator */
export async function sandboxMerchant(stateDir: string, url: string, token: string): Promise<SandboxMerchant> {
  const path = join(stateDir, "merchant.json");
  const peer = connectPeer({ url, token });
  try {
    const merchants = peer.client(MerchantService);
    const keys = peer.client(ApiKeyService);
    const saved = await readObject(path);
    const known = { merchantId: String(saved?.merchant_id ?? ""), apiKey: String(saved?.api_key ?? "") };
    if (known.apiKey !== "" && (await isActive(keys.authenticateKey({ apiKey: known.apiKey })))) return known;
    const merchantId =
      known.merchantId !== "" && (await isActive(merchants.getMerchant({ merchantId: known.merchantId })))
        ? known.merchantId
        : idOf(await merchants.createMerchant(example));
    const created = await keys.createApiKey({
      merchantId,
      environment: Environment.SANDBOX,
      name: "Local stack",
      scopes,
    });
    await writePrivate(path, `${JSON.stringify({ merchant_id: merchantId, api_key: created.secret }, null, 2)}\n`);
    return { merchantId, apiKey: created.secret };
  } finally {
    peer.close();
  }
}

const example = {
  name: "Example Store",
  legalName: "Example Store Ltd",
  email: "owner@example.com",
  country: "US",
  currency: "USD",
};

function idOf({ merchant }: CreateMerchantResponse): string {
  if (!merchant) throw new Error("the merchant service returned no merchant");
  return merchant.id;
}

/** False if the service refuses the merchant or key as unknown or inactive; other failures are thrown. */
async function isActive(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (error instanceof Failure && (error.reason === "NOT_FOUND" || error.reason === "UNAUTHORIZED")) return false;
    throw error;
  }
}
