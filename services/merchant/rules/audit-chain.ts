// The chain of audit entries: each link's hash covers its predecessor's and every byte of its entry, so that an entry
// that was changed, removed or inserted is found, as is a chain that was rewritten once its head is known outside the
// database.
import { createHash } from "node:crypto";

/** An entry as it is hashed. */
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
  /** Texts by their names; whatever else a database gives is hashed as nothing that can be written. */
  readonly details: unknown;
}

/** A place in a chain: how many links it has there, and the hash of the last one. */
export interface ChainPosition {
  readonly seq: bigint;
  readonly hash: Uint8Array;
}

/** A link as it is stored. */
export interface Link extends ChainPosition {
  readonly entryId: string;
  /** Part of the hash; false in every link that this release writes. */
  readonly isLate: boolean;
  /** `entryBytes` of its entry as it is stored; undefined: there is none. */
  readonly entry: Uint8Array | undefined;
}

/** How a chain does not hold. */
export const breaches = [
  "entry_changed",
  "entry_missing",
  "entry_of_another",
  "link_missing",
  "not_as_sealed",
  "tail_missing",
] as const;
export type Breach = (typeof breaches)[number];

/** The first place where a chain does not hold. */
export interface Break {
  readonly what: Breach;
  readonly seq: bigint;
  /** Empty: no link says. */
  readonly entryId: string;
}

/** Before the first link. */
export const origin: ChainPosition = { seq: 0n, hash: new Uint8Array(32) };

// No text is so long, so that what is none is never mistaken for one.
const noText = 0xffff_ffff;

/**
 * The bytes of an entry: for each field four bytes of its length (big-endian) and its UTF-8, in the order id,
 * microseconds, merchant, environment, actor, request, action, object, status, number of details, then each detail's
 * name and text, by their names' bytes.
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
 * The place after an entry. Its hash is SHA-256 of: a byte 1, a byte 1 if it is late else 0, the hash before, seq (8
 * bytes), the entry.
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
 * Follows the chain of a merchant over its next links.
 * @param heads what else is known of it; those in another part of it are passed over
 * @returns how far it holds, and the first place where it does not
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

/** At the end of a chain: a head beyond it was cut off. */
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
  // Its own chain would not miss it.
  if (merchantOf(link.entry) !== merchantId) return { what: "entry_of_another" };
  const isKnown = heads.every(({ seq, hash }) => seq !== link.seq || isSame(hash, after.hash));
  return isKnown ? { what: "held", after } : { what: "not_as_sealed" };
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
