// The hash chain of audit entries: each link's hash covers the previous hash and its entry, so changed, removed and
// inserted entries are detected. A head that is stored outside the database also reveals a rewritten chain.
import { createHash } from "node:crypto";

export interface ChainedEntry {
  readonly id: string;
  /** Microseconds since 1970, in decimals. */
  readonly occurredMicros: string;
  readonly merchantId: string;
  readonly environment: number;
  readonly actor: string;
  readonly requestId: string;
  readonly action: string;
  readonly objectId: string;
  readonly status: string;
  /** Texts by name. Another value, which only a forger can store, gets an encoding that no text has. */
  readonly details: unknown;
}

/** The number of links and the last link's hash. */
export interface ChainPosition {
  readonly seq: bigint;
  readonly hash: Uint8Array;
}

export interface Link extends ChainPosition {
  readonly entryId: string;
  /** Part of the hash; false in every link that this release writes. */
  readonly isLate: boolean;
  /** `entryBytes` of the stored entry; undefined if it is missing. */
  readonly entry: Uint8Array | undefined;
}

export const breaches = [
  "entry_changed",
  "entry_missing",
  "entry_of_another",
  "link_missing",
  "not_as_sealed",
  "tail_missing",
] as const;
export type Breach = (typeof breaches)[number];

export interface Break {
  readonly what: Breach;
  readonly seq: bigint;
  /** Empty if the link is missing. */
  readonly entryId: string;
}

/** The position before the first link. */
export const origin: ChainPosition = { seq: 0n, hash: new Uint8Array(32) };

// A length that no text has, for values that are no text.
const noText = 0xffff_ffff;

/**
 * Encodes an entry: for each field its length (4 bytes, big-endian) and its UTF-8. Order: id, microseconds, merchant,
 * environment, actor, request, action, object, status, number of details, then names and texts of the details, sorted
 * by name bytes.
 */
export function entryBytes(entry: ChainedEntry): Buffer {
  const details = detailsOf(entry.details);
  const fields: (Buffer | undefined)[] = [
    entry.id,
    entry.occurredMicros,
    entry.merchantId,
    String(entry.environment),
    entry.actor,
    entry.requestId,
    entry.action,
    entry.objectId,
    entry.status,
  ].map((text) => Buffer.from(text));
  fields.push(details && Buffer.from(String(details.length)));
  for (const [name, text] of details ?? []) fields.push(name, text);
  return Buffer.concat(fields.flatMap((field) => [lengthOf(field), field ?? Buffer.alloc(0)]));
}

/**
 * The position after an entry. Its hash is SHA-256 of: byte 1, byte `isLate`, the previous hash, seq (8 bytes,
 * big-endian), the entry's bytes.
 */
export function advancePosition(before: ChainPosition, entry: Uint8Array, isLate = false): ChainPosition {
  const seq = before.seq + 1n;
  const head = Buffer.from([1, isLate ? 1 : 0]);
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(seq);
  const hash = createHash("sha256").update(head).update(before.hash).update(number).update(entry).digest();
  return { seq, hash };
}

/** The third field of an entry's bytes. */
function merchantOf(entry: Uint8Array): string {
  const bytes = Buffer.from(entry);
  let start = 0;
  for (let field = 0; field < 2; field++) start += 4 + bytes.readUInt32BE(start);
  return bytes.toString("utf8", start + 4, start + 4 + bytes.readUInt32BE(start));
}

/**
 * Verifies a merchant's chain over its next links.
 * @param heads known positions; those outside these links are ignored
 * @returns the position up to which the chain holds, and its first break
 */
export function followChain(
  merchantId: string,
  from: ChainPosition,
  links: readonly Link[],
  heads: readonly ChainPosition[],
): { position: ChainPosition; broken?: Break } {
  let position = from;
  for (const link of links) {
    const { what, after } = judgeLink(merchantId, position, link, heads);
    if (!after)
      return {
        position,
        broken: { what, seq: position.seq + 1n, entryId: isNext(position, link) ? link.entryId : "" },
      };
    position = after;
  }
  return { position };
}

/** For the end of a chain: a head beyond it proves that links were cut off. */
export function missingTail(end: ChainPosition, heads: readonly ChainPosition[]): Break | undefined {
  const isCut = heads.some(({ seq }) => seq > end.seq);
  return isCut ? { what: "tail_missing", seq: end.seq + 1n, entryId: "" } : undefined;
}

type Judgement = { what: "held"; after: ChainPosition } | { what: Breach; after?: never };

function judgeLink(
  merchantId: string,
  position: ChainPosition,
  link: Link,
  heads: readonly ChainPosition[],
): Judgement {
  if (!isNext(position, link)) return { what: "link_missing" };
  if (!link.entry) return { what: "entry_missing" };
  const after = advancePosition(position, link.entry, link.isLate);
  if (!isSame(after.hash, link.hash)) return { what: "entry_changed" };
  // The other merchant's chain does not contain the entry, so only this check finds it.
  if (merchantOf(link.entry) !== merchantId) return { what: "entry_of_another" };
  const matchesHeads = heads.every(({ seq, hash }) => seq !== link.seq || isSame(hash, after.hash));
  return matchesHeads ? { what: "held", after } : { what: "not_as_sealed" };
}

function isNext(position: ChainPosition, link: Link): boolean {
  return link.seq === position.seq + 1n;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function lengthOf(field: Buffer | undefined): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(field ? field.length : noText);
  return bytes;
}

function detailsOf(details: unknown): [name: Buffer, text: Buffer | undefined][] | undefined {
  if (typeof details !== "object" || details === null || Array.isArray(details)) return undefined;
  const named = Object.entries(details).map(([name, text]): [Buffer, Buffer | undefined] => [
    Buffer.from(name),
    typeof text === "string" ? Buffer.from(text) : undefined,
  ]);
  return named.sort(([one], [other]) => Buffer.compare(one, other));
}
