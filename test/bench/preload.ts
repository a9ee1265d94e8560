// Fills a stack before it is measured: payments and sessions of a year, half of them of one merchant, in the stack's
// own databases, which stand as they would after so many orders.

import { databaseUrlOf } from "../../deploy/local/databases.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { loadPayments } from "./list-rows.ts";
import { loadSessions } from "./list-session-rows.ts";
import { connect } from "./statements.ts";

/** @param say told of each step */
export async function preload(stack: StackInfo, rows: number, say: (line: string) => void): Promise<void> {
  for (const [service, load] of [
    ["payments", loadPayments],
    ["checkout", loadSessions],
  ] as const) {
    const client = await connect(databaseUrlOf(stack.database, service));
    try {
      say(`${rows} rows for ${service}`);
      await load(client, rows, say);
    } finally {
      await client.end();
    }
  }
}
