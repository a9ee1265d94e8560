// Moves old months of one table to files and back. Each step repeats safely: a file is written, then named in the
// database, read back, and rows are dropped only while they equal their documents. A read never finds nothing where the
// archive cannot be asked.
import { createHash } from "node:crypto";
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync } from "hyparquet";
import type { Database } from "#platform/database/database.ts";
import { type JobContext, Wake } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { idFloor, idTimeMs, isId, type Noun, randomHex } from "#platform/values/id.ts";
import {
  archivableRows,
  archiveAgain,
  archivedBefore,
  claimMonth,
  deletePart,
  dropArchived,
  firstArchivable,
  type Goal,
  insertPart,
  markDropped,
  newestPart,
  type Part,
  partsOf,
  releaseMonth,
  restoreArchived,
  setGoal,
} from "./months.ts";
import { type ColumnType, findDocument, ParquetPart, readDocuments } from "./parquet.ts";
import type { ArchiveConfig } from "./settings.ts";
import { type ArchiveStorage, openStorage } from "./storage.ts";

export interface ArchiveTable {
  /** Of the ids, which sort by time. */
  readonly noun: Noun;
  /** More columns of the files than `id` and `document`. */
  readonly columns: Readonly<Record<string, ColumnType>>;
}

// A page of rows is read in well under a second, and a transaction drops its batch within 50 ms.
const pageRows = 1_000;
const batchRows = 50;
// About 20 MB, and a few minutes of work.
const partRows = 50_000;
const leaseSeconds = 900;
const failurePauseMsMax = 300_000;
const metadataMax = 100;
// A list need not know of a month at once.
const reachMs = 10_000;
// A payment that came back for a refund goes with others, not alone.
const dayMs = 86_400_000;

export class Archive {
  readonly #db: Database;
  readonly #log: Log;
  readonly #table: ArchiveTable;
  readonly #storage: ArchiveStorage | undefined;
  readonly #afterMonths: number | undefined;
  readonly #metadata = new Map<string, FileMetaData>();
  readonly #wake = new Wake();
  #scannedAt = Number.NEGATIVE_INFINITY;
  #reach: { readAt: number; before: Date | undefined } = { readAt: Number.NEGATIVE_INFINITY, before: undefined };

  constructor({ db, log }: { db: Database; log: Log }, table: ArchiveTable, config: ArchiveConfig) {
    const { ARCHIVE_URL: url, ARCHIVE_KEY: key, ARCHIVE_AFTER_MONTHS: afterMonths } = config;
    this.#db = db;
    this.#log = log;
    this.#table = table;
    this.#storage = url && openStorage(url, key);
    this.#afterMonths = url && afterMonths;
  }

  get #files(): ArchiveStorage {
    if (!this.#storage) throw new Error("ARCHIVE_URL is not set");
    return this.#storage;
  }

  /** Begins to archive or to restore a month, YYYY-MM. @throws Failure FEATURE_DISABLED */
  async begin(month: string, goal: Goal): Promise<void> {
    if (!this.#storage) throw new Failure("FEATURE_DISABLED", { explanation: "ARCHIVE_URL is not set" });
    await setGoal(this.#db, month, goal);
    this.#wake.now();
  }

  /** JSON of a row; undefined: it is not archived. @throws Failure SERVICE_UNAVAILABLE: the archive cannot be read */
  async find(id: string): Promise<string | undefined> {
    if (!isId(this.#table.noun, id)) return undefined;
    const parts = await partsOf(this.#db, monthOf(id), id);
    try {
      for (const part of parts) {
        const document = await this.#findIn(part, id);
        if (document !== undefined) return document;
      }
    } catch (cause) {
      throw new Failure("SERVICE_UNAVAILABLE", { cause });
    }
    return undefined;
  }

  /** Brings an archived row back, for a change. @param document of `find` */
  async restore(id: string, document: string): Promise<void> {
    await restoreArchived(this.#db, monthOf(id), [document]);
    this.#log.info({ id }, "archived row restored: it changes");
  }

  /** Lists may lack older rows; undefined: nothing is archived. */
  async archivedBefore(): Promise<Date | undefined> {
    if (performance.now() - this.#reach.readAt > reachMs) {
      this.#reach = { readAt: performance.now(), before: await archivedBefore(this.#db) };
    }
    return this.#reach.before;
  }

  job(): JobContext {
    return {
      name: "archive-months",
      everyMs: 60_000,
      limitMs: leaseSeconds * 1_000,
      failurePauseMsMax,
      wake: this.#wake,
      runOnce: () => this.runOnce(),
    };
  }

  /** One part of one month. */
  async runOnce(): Promise<boolean> {
    if (!this.#storage) return false;
    const claim = await claimMonth(this.#db, leaseSeconds);
    if (!claim) return await this.#claimOldMonths();
    const { month, goal } = claim;
    try {
      const hasMore = await (goal === "archived" ? this.#archivePart(month) : this.#restorePart(month));
      await releaseMonth(this.#db, month, hasMore, "");
      return true;
    } catch (error) {
      const problem = error instanceof Error ? error.message : "unknown";
      await releaseMonth(this.#db, month, true, problem.slice(0, 500));
      throw error;
    }
  }

  /** @returns false: the month has nothing left to archive */
  async #archivePart(month: string): Promise<boolean> {
    const left = await newestPart(this.#db, month, true);
    const part = left ?? (await this.#writePart(month));
    if (!part) return false;
    const dropped = await this.#dropPart(month, part);
    if (dropped === 0 && !left) throw new Error(`no row equals its document in ${part.file}`);
    this.#log.info({ month, file: part.file, rows: dropped, bytes: Number(part.bytes) }, "part of a month archived");
    return true;
  }

  async #writePart(month: string): Promise<Part | undefined> {
    const { from, to } = this.#idsOf(month);
    const columns = Object.keys(this.#table.columns);
    const parquet = new ParquetPart(this.#table.columns);
    const ids: string[] = [];
    while (ids.length < partRows) {
      const after = ids.at(-1);
      const page = { from: after === undefined ? from : `${after}0`, to, limit: pageRows };
      const rows = await archivableRows(this.#db, page, columns);
      if (rows.length === 0) break;
      parquet.add(rows);
      for (const { id } of rows) ids.push(id);
    }
    const [firstId, lastId] = [ids[0], ids.at(-1)];
    if (firstId === undefined || lastId === undefined) return undefined;
    const bytes = parquet.finish();
    const file = `${this.#table.noun}s/${month}/${randomHex(8)}.parquet`;
    await this.#files.write(file, bytes);
    const part = { file, sha256: hashOf(bytes), bytes: BigInt(bytes.length), documents: ids.length, firstId, lastId };
    await insertPart(this.#db, month, part);
    return await newestPart(this.#db, month, true);
  }

  async #dropPart(month: string, part: Part): Promise<number> {
    let dropped = 0;
    for await (const documents of this.#batches(part)) {
      dropped += await dropArchived(this.#db, month, documents);
    }
    await markDropped(this.#db, part.id);
    return dropped;
  }

  /** @returns false: the month has no parts */
  async #restorePart(month: string): Promise<boolean> {
    const part = await newestPart(this.#db, month, false);
    if (!part) return false;
    let restored = 0;
    for await (const documents of this.#batches(part)) {
      restored += await restoreArchived(this.#db, month, documents);
    }
    // The file stays: a database that is restored to an earlier time names it again.
    await deletePart(this.#db, part.id);
    this.#log.info({ month, file: part.file, rows: restored }, "part of a month restored");
    return true;
  }

  /** Documents of a file that is whole and unchanged. */
  async *#batches({ file, sha256, bytes }: Part): AsyncGenerator<string[]> {
    const whole = await this.#files.read(file, 0, Number(bytes));
    if (hashOf(new Uint8Array(whole)) !== sha256) throw new Error(`${file} is not the file that was written`);
    const buffer = { byteLength: whole.byteLength, slice: (start: number, end?: number) => whole.slice(start, end) };
    for await (const group of readDocuments(buffer)) {
      for (let from = 0; from < group.length; from += batchRows) yield group.slice(from, from + batchRows);
    }
  }

  async #findIn({ file, bytes }: Part, id: string): Promise<string | undefined> {
    const files = this.#files;
    const byteLength = Number(bytes);
    const buffer: AsyncBuffer = {
      byteLength,
      slice: (start, end = byteLength) => files.read(file, start < 0 ? byteLength + start : start, end),
    };
    let metadata = this.#metadata.get(file);
    if (!metadata) {
      metadata = await parquetMetadataAsync(buffer);
      const [oldest] = this.#metadata.size < metadataMax ? [] : this.#metadata.keys();
      if (oldest !== undefined) this.#metadata.delete(oldest);
      this.#metadata.set(file, metadata);
    }
    return await findDocument(buffer, metadata, id);
  }

  /** Once a day sets the goal of each month before ARCHIVE_AFTER_MONTHS that has rows. */
  async #claimOldMonths(): Promise<boolean> {
    if (this.#afterMonths === undefined || performance.now() - this.#scannedAt < dayMs) return false;
    this.#scannedAt = performance.now();
    const { noun } = this.#table;
    const now = new Date(clockMs());
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - this.#afterMonths, 1);
    let from: string = idFloor(noun, 0);
    let found = false;
    for (;;) {
      const id = await firstArchivable(this.#db, from, idFloor(noun, end));
      if (id === undefined) return found;
      if (await archiveAgain(this.#db, monthOf(id))) found = true;
      from = this.#idsOf(monthOf(id)).to;
    }
  }

  #idsOf(month: string): { from: string; to: string } {
    const [year = 0, number = 0] = month.split("-").map(Number);
    const { noun } = this.#table;
    return { from: idFloor(noun, Date.UTC(year, number - 1, 1)), to: idFloor(noun, Date.UTC(year, number, 1)) };
  }
}

/** YYYY-MM */
export function monthOf(id: string): string {
  return new Date(idTimeMs(id)).toISOString().slice(0, 7);
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
