// One pass over objects that a restored database may have lost: sessions and keys by their events, payments by
// sessions, by events and by the processors' statements, refunds by their events. Queries the processors; safe to
// repeat.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import type { OperatorPeers } from "../peers.ts";

export interface RebuiltObject {
  /** `cs_…`, `pay_…` or `re_…`. */
  readonly object: string;
  readonly outcome: RebuildOutcome;
  /** Empty without a status. */
  readonly status: string;
}

export interface Pass {
  readonly objects: readonly RebuiltObject[];
  /** Accounts whose statement could not be read, with the reason. */
  readonly unread: readonly { readonly account: string; readonly merchant: string; readonly why: string }[];
  /** Accounts without statements at the processor. */
  readonly without: readonly string[];
  /** Accounts whose statement differs from our books in entries that could not be applied. */
  readonly differing: readonly { readonly account: string; readonly count: number }[];
}

const progressEvery = 100;
const dayMs = 86_400_000;
const merchantsPage = 100;

/** @param statements also reads the processors' statements, which requires that payments is in recovery */
export async function rebuildPass(
  peers: OperatorPeers,
  since: Date,
  statements: boolean,
  log: (line: string) => void,
): Promise<Pass> {
  // Sessions first: they know facts about their payments that no processor has.
  const sessions = await lostSessions(peers);
  const payments = [...(await bySessions(peers, since, log)), ...(await byEvents(peers))];
  const swept = statements
    ? await byStatements(peers, since, log)
    : { objects: [], unread: [], without: [], differing: [] };
  const objects = new Map<string, RebuiltObject>();
  for (const each of [...sessions, ...payments, ...swept.objects]) {
    const before = objects.get(each.object)?.outcome;
    // An object that one source has rebuilt is known to the next source.
    if (before === RebuildOutcome.REBUILT && each.outcome === RebuildOutcome.KNOWN) continue;
    objects.set(each.object, each);
  }
  return { ...swept, objects: [...objects.values()] };
}

export function countOf({ objects }: Pick<Pass, "objects">, outcome: RebuildOutcome): number {
  return objects.filter((each) => each.outcome === outcome).length;
}

async function lostSessions({ sessionsOfLost }: OperatorPeers): Promise<RebuiltObject[]> {
  const found: RebuiltObject[] = [];
  let after = 0n;
  do {
    const { sessions, next } = await sessionsOfLost.rebuildSessions({ after });
    found.push(...sessions.map(({ sessionId: object, outcome, status }) => ({ object, outcome, status })));
    after = next;
  } while (after !== 0n);
  return found;
}

async function bySessions(
  { sessionsOfLost }: OperatorPeers,
  since: Date,
  log: (line: string) => void,
): Promise<RebuiltObject[]> {
  const found: RebuiltObject[] = [];
  let after = "";
  do {
    const { payments, next } = await sessionsOfLost.rebuildPayments({ since: timestampFromDate(since), after });
    found.push(...payments.map(({ paymentId: object, outcome, status }) => ({ object, outcome, status })));
    after = next;
    if (found.length > 0 && found.length % progressEvery === 0) log(`${found.length} sessions checked`);
  } while (after !== "");
  return found;
}

/** Payments by token, payments of lost sessions, and refunds. */
async function byEvents({ lostPayments }: OperatorPeers): Promise<RebuiltObject[]> {
  const found: RebuiltObject[] = [];
  let after = 0n;
  do {
    const { payments, refunds, next } = await lostPayments.rebuildAnnounced({ after });
    found.push(...payments.map(({ paymentId: object, outcome, status }) => ({ object, outcome, status })));
    found.push(...refunds.map(({ refundId: object, outcome, status }) => ({ object, outcome, status })));
    after = next;
  } while (after !== 0n);
  return found;
}

/** Payments that only the processor knows. */
async function byStatements(peers: OperatorPeers, since: Date, log: (line: string) => void): Promise<Pass> {
  const objects: RebuiltObject[] = [];
  const unread: Pass["unread"][number][] = [];
  const without: string[] = [];
  const differing: Pass["differing"][number][] = [];
  for await (const { id: account, merchant } of accounts(peers)) {
    let hasOne = true;
    let count = 0;
    for (let from = since; hasOne && from.getTime() < Date.now(); from = new Date(from.getTime() + dayMs)) {
      const to = new Date(from.getTime() + dayMs);
      const period = { from: timestampFromDate(from), to: timestampFromDate(to) };
      try {
        const answer = await peers.lostPayments.rebuildFromStatement({ connectorAccountId: account, ...period });
        hasOne = answer.hasStatement;
        count += answer.differences;
        objects.push(...answer.payments.map(({ paymentId: object, outcome, status }) => ({ object, outcome, status })));
      } catch (error) {
        unread.push({ account, merchant, why: error instanceof Error ? error.message : String(error) });
        break;
      }
    }
    if (!hasOne) without.push(account);
    if (count > 0) differing.push({ account, count });
  }
  if (unread.length > 0) log(`${unread.length} statements could not be read`);
  return { objects, unread, without, differing };
}

async function* accounts({ merchants, connectors }: OperatorPeers) {
  let pageToken = "";
  do {
    const page = await merchants.listMerchants({ pageSize: merchantsPage, pageToken });
    for (const { id: merchant } of page.merchants) {
      for (const environment of [Environment.SANDBOX, Environment.LIVE]) {
        const listed = await connectors.listConnectors({ merchantId: merchant, environment });
        for (const { id } of listed.connectors) yield { id, merchant };
      }
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
