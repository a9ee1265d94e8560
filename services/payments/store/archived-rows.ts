// A payment's document of the archive (schema/0048-archive.sql), read by the statements that read its tables.
const sideTables = ["attempts", "refunds", "operations", "operation_history", "journal"];

/**
 * Begins a statement in which the tables have only the rows of a document.
 * @param document the parameter with its JSON: `$2`; undefined: nothing, so the tables are the database's
 */
export function rowsOfDocument(document: string | undefined): string {
  if (document === undefined) return "";
  const sides = sideTables.map(
    (table) =>
      `${table} as (select r.* from jsonb_populate_recordset(null::${table}, ${document}::jsonb -> '${table}') r)`,
  );
  return `with payments as (select r.* from jsonb_populate_record(null::payments, ${document}::jsonb -> 'payment') r),
    ${sides.join(",\n    ")}\n`;
}
