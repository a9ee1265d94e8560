// A part of the archive is a Parquet file: columns for analyses, and the column `document` that a restore needs. Rows
// are in the order of ids, so a read needs one group of rows.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { ByteWriter, ParquetWriter, schemaFromColumnData } from "hyparquet-writer";
import { parseTime } from "#platform/database/database.ts";

/** A row of the view `archivable`. */
export interface ArchivableRow {
  readonly id: string;
  /** JSON. */
  readonly document: string;
  readonly [column: string]: string | number | null;
}

export type ColumnType = "STRING" | "INT32" | "INT64" | "TIMESTAMP";

// About 200 kB, which a read of one row fetches.
const groupRows = 1_000;

const compressors = {
  ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)),
};

/** Collects one file, a page of rows at a time, so that only compressed rows stay in memory. */
export class ParquetPart {
  readonly #columns: readonly (readonly [name: string, type: ColumnType])[];
  readonly #bytes = new ByteWriter();
  readonly #file: ParquetWriter;

  /** @param columns types of more columns than `id` and `document` */
  constructor(columns: Readonly<Record<string, ColumnType>>) {
    this.#columns = Object.entries({ id: "STRING", ...columns, document: "STRING" } as const);
    const columnData = this.#columns.map(([name, type]) => ({ name, type, data: [] }));
    this.#file = new ParquetWriter({
      writer: this.#bytes,
      schema: schemaFromColumnData({ columnData }),
      codec: "ZSTD",
      compressors: { ZSTD: (input) => new Uint8Array(zstdCompressSync(input)) },
      statisticsTruncateLength: Number.POSITIVE_INFINITY,
      createdBy: "tollbooth",
    });
  }

  add(rows: readonly ArchivableRow[]): void {
    const columnData = this.#columns.map(([name, type]) => ({
      name,
      data: rows.map((row) => storedValue(row[name] ?? null, type)),
      statistics: name !== "document",
    }));
    void this.#file.write({ columnData, rowGroupSize: groupRows });
  }

  finish(): Uint8Array<ArrayBuffer> {
    void this.#file.finish();
    return new Uint8Array(this.#bytes.getBuffer());
  }
}

function storedValue(value: string | number | null, type: ColumnType): string | number | bigint | Date | null {
  if (value === null) return null;
  if (type === "INT64") return BigInt(value);
  return type === "TIMESTAMP" ? (parseTime(String(value)) ?? null) : value;
}

/** Documents of a file, one group of rows at a time. */
export async function* readDocuments(file: AsyncBuffer): AsyncGenerator<string[]> {
  const metadata = await parquetMetadataAsync(file);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, columns: ["document"], rowStart, rowEnd, compressors });
    yield rows.map(({ document }) => document);
    rowStart = rowEnd;
  }
}

/** Reads the one group whose ids include it. @returns undefined: the file has no such document */
export async function findDocument(file: AsyncBuffer, metadata: FileMetaData, id: string): Promise<string | undefined> {
  const filter = { id: { $eq: id } };
  const [row] = await parquetReadObjects({ file, metadata, columns: ["document"], filter, compressors });
  return row?.document;
}
