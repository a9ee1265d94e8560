// What was done since a backup and cannot be rebuilt by anybody but the one who did it: by the events that tell of it.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { LostEvent } from "#proto/status/v1/recovery_pb.ts";
import { type OperatorPeers, type ServiceName, serviceNames } from "../peers.ts";

/** An event that a service's database lacked. */
export interface LostRecord {
  readonly service: ServiceName;
  readonly type: string;
  readonly object: string;
  readonly merchant: string;
  readonly environment: Environment;
  readonly at: Date | undefined;
  readonly takenBack: boolean;
  readonly doneAgain: boolean;
}

/** All of them, each service's in the order in which they were announced. */
export async function lostEvents({ recovery }: OperatorPeers): Promise<LostRecord[]> {
  const found: LostRecord[] = [];
  for (const service of serviceNames) {
    let after = 0n;
    do {
      const { events, next } = await recovery[service].listLostEvents({ after });
      found.push(...events.map((lost) => lostOf(service, lost)));
      after = next;
    } while (after !== 0n);
  }
  return found;
}

function lostOf(service: ServiceName, { event, environment, takenBack, doneAgain }: LostEvent): LostRecord {
  const { type = "", objectId: object = "", merchantId: merchant = "", occurredAt } = event ?? {};
  const at = occurredAt && timestampDate(occurredAt);
  return { service, type, object, merchant, environment, at, takenBack, doneAgain };
}

/** What a person does about it; undefined: it is rebuilt, or needs nobody. */
export function toDoAbout({ type, doneAgain }: LostRecord): string | undefined {
  if (keyEnds.has(type)) return doneAgain ? undefined : "run this again: merchant does it within seconds";
  const known = toDo.get(type);
  if (known !== undefined) return known || undefined;
  const [noun = ""] = type.split(".");
  // What a rebuild is about, and what is only told.
  if (["payment", "session", "refund", "dispute", "events", "audit"].includes(noun)) return undefined;
  return "look whether it has to be done again";
}

/** The service itself does these again. */
const keyEnds: ReadonlySet<string> = new Set(["api_key.revoked", "api_key.rolled", "api_key.limited"]);

const toDo: ReadonlyMap<string, string> = new Map([
  ["api_key.created", "the key is gone: its merchant makes another one"],
  ["api_key.new_network", ""],
  [
    "connector.updated",
    "look at the account (tollbooth connectors list): what was changed is as before, a new one is gone",
  ],
  ["branding.updated", "its merchant saves the branding again"],
  ["merchant.created", "the merchant is gone: create it again, with its keys and endpoints"],
  ["merchant.updated", "profile or standing are as before (tollbooth merchants show): change them again"],
  ["endpoint.created", "the endpoint is gone: its merchant registers it again"],
  ["endpoint.updated", "the endpoint is as before: its merchant changes it again"],
  ["endpoint.secret_rolled", "the endpoint signs with the secret of before: its merchant rolls it again"],
  ["endpoint.deleted", "the endpoint is there again: its merchant deletes it again"],
  ["delivery.exhausted", ""],
  ["delivery.failing", ""],
  [
    "dispute_response.evidence_requested",
    "the processor may have the evidence, which is gone here: look at the dispute there, and tell its merchant",
  ],
  [
    "dispute_response.acceptance_requested",
    "look at the dispute: while it waits for an answer its merchant accepts it again",
  ],
  ["session.expiry_requested", "the session may be open again: its merchant expires it again"],
]);

/**
 * Lost accounts of processors, and lost merchants: what was paid there cannot be looked for while nobody knows the
 * credentials.
 */
export async function missingAccounts(
  { connectors, merchants }: OperatorPeers,
  lost: readonly LostRecord[],
): Promise<LostRecord[]> {
  const missing = new Map<string, LostRecord>();
  const standing = new Map<string, boolean>();
  const merchantExists = async (merchantId: string, environment: Environment) => {
    const known = standing.get(merchantId) ?? (await isThere(() => merchants.getMerchant({ merchantId, environment })));
    standing.set(merchantId, known);
    return known;
  };
  for (const one of lost) {
    const { type, object, merchant: merchantId } = one;
    if (type !== "connector.updated" && type !== "merchant.created") continue;
    const environment = one.environment || Environment.SANDBOX;
    const isMerchant = await merchantExists(merchantId, environment);
    const listed =
      isMerchant && type === "connector.updated"
        ? await connectors.listConnectors({ merchantId, environment })
        : undefined;
    const isKnown = isMerchant && (!listed || listed.connectors.some(({ id }) => id === object));
    if (!isKnown) missing.set(object, one);
  }
  return [...missing.values()];
}

async function isThere(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (error instanceof Failure && error.reason === "NOT_FOUND") return false;
    throw error;
  }
}
