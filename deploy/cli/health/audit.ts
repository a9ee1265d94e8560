// `tollbooth audit …`: lists entries of the audit log, and verifies its hash chains. It reads the entries over the
// internal API, computes every hash here, and compares with the service's heads and with heads stored elsewhere.
import type { AuditEntry, AuditLink } from "#proto/merchant/v1/audit_pb.ts";
import {
  type Break,
  type ChainPosition,
  followChain,
  type Link,
  missingTail,
  origin,
} from "../../../services/merchant/rules/audit-chain.ts";
import { type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { environmentName, limitOption, periodOf, periodOptions, readInput, readPages, timeText } from "../wire.ts";

// Prints progress after this number of entries.
const progressEvery = 10_000;

export const audit: Commands = {
  list: {
    about: "lists entries of the audit log, newest first, of all merchants or of one",
    args: ["[merchant]"],
    options: {
      action: { value: "action", about: "such as api_key.created" },
      actor: { value: "id", about: "ak_…, usr_…, operator or team:<name>" },
      object: { value: "id", about: "the object of the action" },
      payment: { value: "pay_…", about: "actions on the payment, its refunds and its disputes" },
      ...periodOptions,
      ...limitOption,
    },
    run: async (peers, input) => {
      const [merchantId, action, actor] = [input.arg("[merchant]"), input.text("action"), input.text("actor")];
      const filter = { merchantId, action, actor, objectId: input.text("object"), paymentId: input.text("payment") };
      const period = periodOf(input);
      const found = await readPages(input, async (page) => {
        const { entries, nextPageToken } = await peers.audit.listAuditEntries({ ...filter, ...period, ...page });
        return { items: entries, nextPageToken };
      });
      return { rows: found.map(entryRow) };
    },
  },
  verify: {
    about:
      "verifies the audit log's hash chains of all merchants, or of one; lists the first broken position of each chain, and entries outside their chain; exit code 1 if there is one. An owner of the database can rewrite a whole chain: only heads stored elsewhere detect that",
    args: ["[merchant]"],
    options: {
      head: {
        value: "sequence:hash",
        about: "a head stored elsewhere; requires the merchant; repeatable",
        multiple: true,
      },
      heads: {
        value: "file",
        about:
          "a file with heads (- is standard input): lines `audit head sealed` of the service's log, or earlier --json output of this command",
      },
    },
    run: async (peers, input) => {
      const known = await headsOf(input);
      const progress = { links: 0, reported: 0 };
      const rows: Row[] = [];
      let broken = 0;
      for await (const merchantId of chainsOf(peers, input, known)) {
        const found = await verifyChain(peers, merchantId, known.get(merchantId) ?? [], progress);
        if (found.broken) broken += 1;
        rows.push(rowOf(merchantId, found));
      }
      const loose = await unchainedRows(peers, input.arg("[merchant]"));
      const remark = `${rows.length} chains with ${progress.links} entries, ${broken} of them broken; ${loose.length} entries not in their chain`;
      return { rows: [...rows, ...loose], remark, isBad: broken + loose.length > 0 };
    },
  },
};

function entryRow(entry: AuditEntry): Row {
  const { id, merchantId, environment, actor, action, objectId, status, requestId } = entry;
  const details = Object.entries(entry.details).map(([name, value]) => `${name}=${value}`);
  const about = { merchant_id: merchantId, environment: environment === 0 ? "" : environmentName(environment) };
  const object = { object_id: objectId, status, request_id: requestId, details };
  return { at: timeText(entry.occurredAt), action, actor, ...about, ...object, id };
}

type Heads = Map<string, ChainPosition[]>;

/** The named merchant's chain; else every chain of the service or of the given heads. */
async function* chainsOf(peers: OperatorPeers, input: CommandInput, known: Heads): AsyncGenerator<string> {
  const named = input.arg("[merchant]");
  if (named !== "") return yield named;
  const left = new Set(known.keys());
  for (let after: string | undefined; ; ) {
    const { merchantIds } = await peers.audit.listAuditChains(after === undefined ? {} : { afterMerchantId: after });
    for (const merchantId of merchantIds) {
      left.delete(merchantId);
      yield merchantId;
    }
    after = merchantIds.at(-1);
    if (after === undefined) return yield* left;
  }
}

/** Entries outside their merchant's chain. @param merchantId empty: of all */
async function unchainedRows(peers: OperatorPeers, merchantId: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let afterEntryId = ""; ; ) {
    const { entries, lookedTo } = await peers.audit.listUnchainedEntries({ afterEntryId });
    for (const entry of entries.filter((each) => merchantId === "" || each.merchantId === merchantId)) {
      const outcome = entry.isAstray ? "in another one's chain" : "in no chain";
      rows.push({ merchant_id: entry.merchantId, outcome: `${entry.entryId} is ${outcome}` });
    }
    if (lookedTo === "") return rows;
    afterEntryId = lookedTo;
  }
}

interface Verification {
  readonly position: ChainPosition;
  readonly broken: Break | undefined;
}

async function verifyChain(
  peers: OperatorPeers,
  merchantId: string,
  known: readonly ChainPosition[],
  progress: { links: number; reported: number },
): Promise<Verification> {
  let position = origin;
  for (;;) {
    const answer = await peers.audit.listAuditLinks({ merchantId, afterSequence: position.seq });
    const heads = [...known, ...answer.heads.map(({ sequence: seq, hash }) => ({ seq, hash }))];
    const links = answer.links.map(linkOf);
    const followed = followChain(merchantId, position, links, heads);
    progress.links += links.length;
    reportProgress(progress);
    position = followed.position;
    if (followed.broken) return { position, broken: followed.broken };
    // Guards against a service that returns no entries but claims that there are more.
    if (!answer.hasMore || links.length === 0) return { position, broken: missingTail(position, heads) };
  }
}

function reportProgress(progress: { links: number; reported: number }): void {
  if (progress.links - progress.reported < progressEvery) return;
  progress.reported = progress.links;
  console.error(`${progress.links} entries verified`);
}

function linkOf({ sequence, entryId, isLate, hash, entry }: AuditLink): Link {
  return { seq: sequence, entryId, isLate, hash, entry };
}

function rowOf(merchantId: string, { position, broken }: Verification): Row {
  const outcome = broken
    ? `${broken.what} at ${broken.seq}${broken.entryId && ` (${broken.entryId})`}`
    : position.seq === 0n
      ? "has no entries"
      : "holds";
  return {
    merchant_id: merchantId,
    outcome,
    sequence: String(position.seq),
    hash: Buffer.from(position.hash).toString("hex"),
  };
}

async function headsOf(input: CommandInput): Promise<Heads> {
  const heads: Heads = new Map();
  const add = (merchantId: string, sequence: unknown, hash: unknown) => {
    const isHead = /^[1-9]\d{0,17}$/.test(String(sequence)) && /^[0-9a-f]{64}$/.test(String(hash));
    if (!isHead) return false;
    const position = { seq: BigInt(String(sequence)), hash: Buffer.from(String(hash), "hex") };
    heads.set(merchantId, [...(heads.get(merchantId) ?? []), position]);
    return true;
  };
  const merchantId = input.arg("[merchant]");
  for (const head of input.list("head")) {
    const [sequence, hash, ...rest] = head.split(":");
    if (merchantId === "") throw new UsageError("--head requires the merchant");
    if (rest.length > 0 || !add(merchantId, sequence, hash)) throw new UsageError("--head is <sequence>:<64 hex>");
  }
  const path = input.text("heads");
  if (path === "") return heads;
  const lines = await readInput(path).catch((error: Error) => {
    throw new UsageError(`--heads: ${error.message}`);
  });
  const found = parseMerchantObjects(lines).filter((each) => add(String(each.merchant_id), each.sequence, each.hash));
  if (found.length === 0) throw new UsageError(`--heads: ${path} has no head`);
  if (merchantId !== "" && !heads.has(merchantId))
    throw new UsageError(`--heads: ${path} has no head of ${merchantId}`);
  return heads;
}

/** Objects with a merchant: one per line among other lines, or all in one array. */
function parseMerchantObjects(text: string): Record<string, unknown>[] {
  const values = text.trimStart().startsWith("[") ? [parsed(text)].flat() : text.split("\n").map(parsed);
  return values.map(Object).filter((each) => typeof each.merchant_id === "string");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
