// Maps the columns of a table to the fields of an object. One definition gives the SQL lists, reads rows and writes
// JSON; a row becomes the fields of a message.
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { hexOf } from "./database.ts";

/** The SQL type of a column and the conversion of its values. */
export interface Column<Value, Input = Value> {
  readonly type: string;
  /** From a value of a result or of a JSON object. */
  readonly read: (stored: never) => Value;
  /** To a value in the JSON that `jsonb_to_recordset` reads. */
  readonly write: (value: Input) => unknown;
}

/** A column whose value is the field. */
export function sqlColumn<Value>(type: string): Column<Value> {
  return { type, read: (stored: Value) => stored, write: (value) => value };
}

/** Null is undefined. */
export function optionalColumn<Value>({ type, read, write }: Column<Value>): Column<Value | undefined> {
  return {
    type,
    read: (stored: unknown) => (stored === null || stored === undefined ? undefined : read(stored as never)),
    write: (value) => (value === undefined ? undefined : write(value)),
  };
}

export const text = sqlColumn<string>("text");
export const integer = sqlColumn<number>("integer");
export const boolean = sqlColumn<boolean>("boolean");
export const bigint: Column<bigint> = {
  type: "bigint",
  read: (stored: string | number) => BigInt(stored),
  write: String,
};
export const time: Column<Date> = {
  type: "timestamptz",
  read: (stored: string) => new Date(stored),
  write: (at) => at,
};
export const bytes: Column<Buffer> = { type: "bytea", read: (stored: Buffer) => stored, write: hexOf };

/** The object that a column map reads. */
export type RowOf<Map> = Map extends Columns<infer Row> ? Readonly<Row> : never;

/** A field in camel case is the column of the same name in snake case. */
export class Columns<Row extends object> {
  readonly #columns: { readonly [Field in keyof Row]: Column<Row[Field]> };
  readonly #entries: readonly {
    readonly field: string;
    readonly name: string;
    readonly column: Column<unknown, never>;
  }[];

  constructor(columns: { readonly [Field in keyof Row]: Column<Row[Field]> }) {
    this.#columns = columns;
    this.#entries = Object.entries<Column<unknown, never>>(columns).map(([field, column]) => {
      return { field, name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), column };
    });
  }

  /** For a `select` or `insert`: `p.id, p.merchant_id`. */
  names(alias?: string): string {
    return this.#entries.map(({ name }) => (alias ? `${alias}.${name}` : name)).join(", ");
  }

  /** For `jsonb_to_recordset`: `id text, merchant_id text`. */
  get types(): string {
    return this.#entries.map(({ name, column }) => `${name} ${column.type}`).join(", ");
  }

  /** For an `update`: `outcome = s.outcome, fee_amount = s.fee_amount`. */
  assignments(from: string): string {
    return this.#entries.map(({ name }) => `${name} = ${from}.${name}`).join(", ");
  }

  /** @param row may have other columns, too */
  read(row: object): Row {
    const stored = row as Readonly<Record<string, never>>;
    return Object.fromEntries(
      this.#entries.map(({ field, name, column }) => [field, column.read(stored[name] as never)]),
    ) as Row;
  }

  /** For JSON parameters. */
  write(row: Row): Record<string, unknown> {
    const values = row as Readonly<Record<string, never>>;
    return Object.fromEntries(
      this.#entries.map(({ field, name, column }) => [name, column.write(values[field] as never)]),
    );
  }

  pick<Field extends keyof Row>(...fields: Field[]): Columns<Pick<Row, Field>> {
    const picked = fields.map((field) => [field, this.#columns[field]]);
    return new Columns<Pick<Row, Field>>(Object.fromEntries(picked));
  }
}

type MessageFields<Row> = { [Field in keyof Row]: MessageValue<Row[Field]> };
type MessageValue<Value> = Value extends Date ? Timestamp : Value extends null ? undefined : Value;

/** A row for a message: its times are timestamps, and null is undefined. */
export function messageFields<Row extends object>(row: Row): MessageFields<Row> {
  const fields = Object.entries(row as Readonly<Record<string, unknown>>).map(([field, value]) => {
    return [field, value instanceof Date ? timestampFromDate(value) : (value ?? undefined)];
  });
  return Object.fromEntries(fields) as MessageFields<Row>;
}
