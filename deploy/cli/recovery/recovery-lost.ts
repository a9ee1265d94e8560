// Changes since a backup that only a person can repeat, found by the lost events that announced them.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { LostEvent } from "#proto/status/v1/recovery_pb.ts";
import { type Source, sources } from "../../../services/services.ts";
import type { OperatorPeers } from "../peers.ts";

/** An event that a service's database lacks. */
export interface LostRecord {
  readonly service: Source;
  readonly type: string;
  readonly object: string;
  readonly merchant: string;
  readonly environment: Environment;
  readonly at: Date | undefined;
  readonly takenBack: boolean;
  readonly doneAgain: boolean;
}

/** All lost events, per service in the order of their announcement. */
export async function lostEvents({ recovery }: OperatorPeers): Promise<LostRecord[]> {
  const found: LostRecord[] = [];
  for (const service of sources) {
    let after = 0n;
    do {
      const { events, next } = await recovery[service].listLostEvents({ after });
      found.push(...events.map((lost) => lostOf(service, lost)));
      after = next;
    } while (after !== 0n);
  }
  return found;
}

function lostOf(service: Source, { event, environment, takenBack, doneAgain }: LostEvent): LostRecord {
  const { type = "", objectId: object = "", merchantId: merchant = "", occurredAt } = event ?? {};
  const at = occurredAt && timestampDate(occurredAt);
  return { service, type, object, merchant, environment, at, takenBack, doneAgain };
}

/** The operator's next step; undefined if the event is rebuilt or needs no action. */
export function toDoAbout(one: LostRecord): string | undefined {
  const { type, doneAgain } = one;
  if (isKeyEnd(one)) return doneAgain ? undefined : "run this again: merchant repeats it within seconds";
  const known = toDo.get(type);
  if (known !== undefined) return known || undefined;
  const [noun = ""] = type.split(".");
  // Rebuilt, or informational only.
  if (["payment", "session", "refund", "dispute", "events", "audit"].includes(noun)) return undefined;
  return "check whether it must be repeated";
}

/** The merchant service repeats these itself. */
export function isKeyEnd({ type }: LostRecord): boolean {
  return ["api_key.revoked", "api_key.rolled", "api_key.limited"].includes(type);
}

const toDo: ReadonlyMap<string, string> = new Map([
  ["api_key.created", "the key is lost: its merchant creates another one"],
  ["api_key.new_network", ""],
  ["connector.updated", "check the account (tollbooth connectors list): a change is undone, a new account is lost"],
  ["branding.updated", "its merchant saves the branding again"],
  ["routing.updated", "its merchant saves the routing again"],
  ["merchant.created", "the merchant is lost: create it again, with its keys and endpoints"],
  ["merchant.updated", "the change of profile or status is undone (tollbooth merchants show): repeat it"],
  ["endpoint.created", "the endpoint is lost: its merchant registers it again"],
  ["endpoint.updated", "the change is undone: its merchant repeats it"],
  ["endpoint.secret_rolled", "the endpoint signs with the previous secret: its merchant rolls it again"],
  ["endpoint.deleted", "the endpoint exists again: its merchant deletes it again"],
  ["delivery.exhausted", ""],
  ["delivery.failing", ""],
  [
    "dispute_response.evidence_requested",
    "the evidence is lost here but may be at the processor: check the dispute there, and inform its merchant",
  ],
  [
    "dispute_response.acceptance_requested",
    "check the dispute: if it still needs a response, its merchant accepts it again",
  ],
  ["payment_link.created", "the payment link is lost: its merchant creates another one"],
  ["payment_link.closed", "the payment link is open again: its merchant closes it again"],
  ["session.expiry_requested", "the session may be open again: its merchant expires it again"],
]);

/** Lost processor accounts and merchants: their payments cannot be queried without the credentials. */
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
