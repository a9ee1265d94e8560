// Reads a bank's statement, camt.053 of ISO 20022, from disk in chunks, so that memory does not grow with the file.
// It refuses entities and other means of attacking a parser.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { SaxesParser, type SaxesTagNS } from "saxes";
import { currencyExponent } from "#platform/values/money.ts";
import { errorCode } from "#platform/values/unchecked.ts";

/** The file is not a statement that this reads. */
export class StatementRefused extends Error {
  override name = "StatementRefused";
}

/** A booked entry of a statement. */
export interface StatementEntry {
  /** The account's IBAN or the bank's own number. */
  readonly iban: string;
  readonly statementId: string;
  /** From 1 in the statement. */
  readonly position: number;
  /** The bank's reference; may be empty. */
  readonly bankRef: string;
  /** Minor units; below zero: debited. */
  readonly amount: bigint;
  readonly currency: string;
  /** YYYY-MM-DD. */
  readonly bookedOn: string;
  readonly valueOn: string;
  readonly endToEndId: string;
  readonly text: string;
  readonly isReversal: boolean;
}

const family = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.";
const versions = ["02", "08", "13"];

const chunkBytes = 16 << 10;
// A statement of a million entries has about 1 GB.
const fileBytesMax = 1 << 30;
// The standard needs 12 levels and texts of 500 characters.
const depthMax = 50;
const textMax = 100_000;
// Enough for people and for the match.
const remittanceMax = 1_000;

/**
 * Booked entries in the order of the file, chunk by chunk.
 * @throws StatementRefused
 */
export async function* readStatement(path: string): AsyncGenerator<StatementEntry[]> {
  const reader = new StatementReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Buffer) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new StatementRefused("the file is not valid UTF-8, the only encoding that is read: convert it");
    }
  };
  let bytes = 0;
  try {
    refuseSize((await stat(path)).size);
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
      if (bytes === 0) refuseForm(chunk);
      bytes += chunk.length;
      refuseSize(bytes);
      yield reader.take(decode(chunk));
    }
    yield reader.take(decode());
    reader.end();
  } catch (error) {
    if (error instanceof StatementRefused || errorCode(error) === "") throw error;
    throw new StatementRefused(`${path} cannot be read: ${errorCode(error)}`);
  }
}

function refuseSize(bytes: number): void {
  if (bytes > fileBytesMax) throw new StatementRefused("the file has more than 1 GB: ask the bank for shorter periods");
}

/** Refuses what is not XML in UTF-8, by the first bytes. */
function refuseForm(chunk: Buffer): void {
  const start = chunk.toString("latin1");
  if (start.startsWith("\x1f\x8b") || start.startsWith("PK\x03\x04"))
    throw new StatementRefused("the file is compressed: unpack it first");
  const [, declared = "UTF-8"] =
    /^(?:\xef\xbb\xbf)?<\?xml[^>]{0,200}?encoding\s*=\s*["']([^"']{1,40})/.exec(start) ?? [];
  const isWide = /^(?:\xff\xfe|\xfe\xff|\0|[^\0]\0)/.test(start);
  if (isWide || declared.toUpperCase() !== "UTF-8") {
    const found = isWide ? "UTF-16 or UTF-32" : declared;
    throw new StatementRefused(`the file is encoded in ${found}; only UTF-8 is read: convert it`);
  }
  if (!/^(?:\xef\xbb\xbf)?\s*</.test(start)) throw new StatementRefused("the file is not XML");
}

const statementPath = "/Document/BkToCstmrStmt/Stmt";
const entryPath = `${statementPath}/Ntry`;
const detailsPath = `${entryPath}/NtryDtls/TxDtls`;

interface Entry {
  line: number;
  amount: string;
  currency: string;
  direction: string;
  status: string;
  isReversal: boolean;
  bookedOn: string;
  valueOn: string;
  bankRef: string;
  endToEndId: string;
  text: string;
}

/** Stores the text of an element by its path. */
const takers: Readonly<Record<string, (entry: Entry, text: string) => void>> = {
  [`${entryPath}/Amt`]: (entry, text) => void (entry.amount = text),
  [`${entryPath}/CdtDbtInd`]: (entry, text) => void (entry.direction = text),
  [`${entryPath}/RvslInd`]: (entry, text) => void (entry.isReversal = text === "true" || text === "1"),
  [`${entryPath}/Sts`]: (entry, text) => void (entry.status ||= text),
  [`${entryPath}/Sts/Cd`]: (entry, text) => void (entry.status = text),
  [`${entryPath}/Sts/Prtry`]: (entry, text) => void (entry.status = text),
  [`${entryPath}/BookgDt/Dt`]: (entry, text) => void (entry.bookedOn = text),
  [`${entryPath}/BookgDt/DtTm`]: (entry, text) => void (entry.bookedOn = text),
  [`${entryPath}/ValDt/Dt`]: (entry, text) => void (entry.valueOn = text),
  [`${entryPath}/ValDt/DtTm`]: (entry, text) => void (entry.valueOn = text),
  [`${entryPath}/AcctSvcrRef`]: (entry, text) => void (entry.bankRef = text === "NONREF" ? "" : text),
  [`${entryPath}/AddtlNtryInf`]: addText,
  [`${detailsPath}/Refs/EndToEndId`]: (entry, text) => void (entry.endToEndId ||= text === "NOTPROVIDED" ? "" : text),
  [`${detailsPath}/RmtInf/Ustrd`]: addText,
  [`${detailsPath}/RmtInf/Strd/CdtrRefInf/Ref`]: addText,
  [`${detailsPath}/AddtlTxInf`]: addText,
};

function addText(entry: Entry, text: string): void {
  entry.text = `${entry.text} ${text.replace(/\s+/g, " ")}`.trim().slice(0, remittanceMax);
}

class StatementReader {
  readonly #parser = new SaxesParser({ xmlns: true, position: true });
  /** Paths of the open elements; one of another namespace is empty, and so is everything in it. */
  readonly #open: string[] = [];
  #namespace = "";
  #text = "";
  #events = 0;
  #quietChars = 0;
  #statements = 0;
  #statement = { id: "", iban: "", position: 0 };
  #entry: Entry | undefined;
  #found: StatementEntry[] = [];

  constructor() {
    const parser = this.#parser;
    parser.on("error", ({ message }) => this.#refuse(`is not well-formed XML: ${message.replace(/^[\d:]+ /, "")}`));
    parser.on("doctype", () => this.#refuse("has a DOCTYPE, which no statement needs"));
    parser.on("opentag", (tag) => this.#onOpen(tag));
    parser.on("closetag", () => this.#onClose());
    parser.on("text", (text) => this.#onText(text));
    parser.on("cdata", (text) => this.#onText(text));
    parser.on("comment", () => void this.#events++);
    parser.on("processinginstruction", () => void this.#events++);
  }

  /** @returns the entries that ended in this part */
  take(part: string): StatementEntry[] {
    const before = this.#events;
    this.#parser.write(part);
    // The parser keeps what has not ended yet: a text, tag, comment or DOCTYPE.
    this.#quietChars = this.#events === before ? this.#quietChars + part.length : 0;
    if (this.#quietChars > textMax) this.#refuse(`has a part of more than ${textMax / 1_000} kB without a tag`);
    const found = this.#found;
    this.#found = [];
    return found;
  }

  end(): void {
    this.#parser.close();
    if (this.#statements === 0) this.#refuse("has no statement");
  }

  #onOpen({ local, uri, attributes }: SaxesTagNS): void {
    this.#events++;
    if (this.#open.length >= depthMax) this.#refuse(`nests more than ${depthMax} elements`);
    if (this.#open.length === 0) this.#takeRoot(local, uri);
    const parent = this.#open.at(-1);
    const path = parent === "" || uri !== this.#namespace ? "" : `${parent ?? ""}/${local}`;
    this.#open.push(path);
    this.#text = "";
    if (path === statementPath) {
      this.#statements++;
      this.#statement = { id: "", iban: "", position: 0 };
    }
    if (path === entryPath) this.#entry = this.#newEntry();
    if (path === `${entryPath}/Amt` && this.#entry) this.#entry.currency = attributes.Ccy?.value ?? "";
  }

  #takeRoot(local: string, uri: string): void {
    if (local !== "Document" || !uri.startsWith(family)) this.#refuse("is not a statement in camt.053");
    const version = uri.slice(family.length);
    if (!versions.includes(version)) {
      this.#refuse(`is camt.053 of the unknown version ${version.slice(0, 20)}; ${versions.join(", ")} are read`);
    }
    this.#namespace = uri;
  }

  #newEntry(): Entry {
    this.#statement.position++;
    const empty = { amount: "", currency: "", direction: "", status: "", bookedOn: "", valueOn: "" };
    return { ...empty, line: this.#parser.line, isReversal: false, bankRef: "", endToEndId: "", text: "" };
  }

  #onText(text: string): void {
    this.#events++;
    if (text.length + this.#text.length > textMax) this.#refuse(`has a text of more than ${textMax / 1_000} kB`);
    this.#text += text;
  }

  #onClose(): void {
    this.#events++;
    const path = this.#open.pop() ?? "";
    const text = this.#text.trim();
    this.#text = "";
    if (path === `${statementPath}/Id`) this.#statement.id = text;
    else if (path === `${statementPath}/Acct/Id/IBAN`) this.#statement.iban = text.replaceAll(" ", "").toUpperCase();
    else if (path === `${statementPath}/Acct/Id/Othr/Id`) this.#statement.iban ||= text;
    else if (path === entryPath && this.#entry) this.#finish(this.#entry);
    else if (this.#entry && text !== "") takers[path]?.(this.#entry, text);
  }

  /** A pending entry is not in the balance; the bank sends it again once it is booked. */
  #finish(entry: Entry): void {
    this.#entry = undefined;
    const { id, iban, position } = this.#statement;
    const { bankRef, currency, endToEndId, isReversal, text } = entry;
    const at = `entry ${position} (line ${entry.line})`;
    if (id === "" || iban === "") this.#refuse(`${at} comes before the statement's id and account`);
    if (entry.status !== "BOOK" && entry.status !== "") return;
    if (entry.direction !== "CRDT" && entry.direction !== "DBIT") this.#refuse(`${at} is neither credit nor debit`);
    const amount = minorUnits(entry.amount, currency);
    if (amount === undefined)
      this.#refuse(`${at} has no valid amount: ${entry.amount.slice(0, 40)} ${currency.slice(0, 10)}`);
    const [bookedOn, valueOn] = [entry.bookedOn || entry.valueOn, entry.valueOn || entry.bookedOn].map(dayOf);
    if (!bookedOn || !valueOn) this.#refuse(`${at} has no valid date`);
    this.#found.push({
      ...{ iban, statementId: id, position, bankRef, currency, bookedOn, valueOn, endToEndId, text, isReversal },
      amount: entry.direction === "CRDT" ? amount : -amount,
    });
  }

  #refuse(why: string): never {
    throw new StatementRefused(`line ${this.#parser.line}: the file ${why}`);
  }
}

/** Exact, without floating point; undefined: not an amount of a known currency. */
function minorUnits(text: string, currency: string): bigint | undefined {
  const digits = currencyExponent(currency);
  const [, whole = "", fraction = ""] = /^\+?(\d{1,15})(?:\.(\d{0,5}))?$/.exec(text) ?? [];
  if (digits === undefined || whole === "" || /[^0]/.test(fraction.slice(digits))) return undefined;
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, "0"));
}

/** YYYY-MM-DD of a date or a time; undefined: neither. */
function dayOf(text: string): string | undefined {
  const day = text.slice(0, 10);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : undefined;
}
