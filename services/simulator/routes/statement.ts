// GET /api/statement: money movements of the account in a period, for reconciliation.
import type { FastifyInstance } from "fastify";
import { badField } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { readStatement, type StatementRow } from "../store/statement.ts";
import { accountOf, answerGet } from "./api-request.ts";
import { Fields } from "./fields.ts";

const limitDefault = 100;
const limitMax = 500;

export function statementRoutes(app: FastifyInstance, processor: Processor): void {
  app.get("/api/statement", (request, reply) => {
    const fields = new Fields(request.query);
    const limit = fields.queryInteger("limit", 1, limitMax, limitDefault);
    const page = {
      account: accountOf(request),
      from: fields.queryTime("from") ?? new Date(0),
      to: fields.queryTime("to") ?? new Date(),
      limit: limit + 1, // the extra row shows whether there is a next page
      after: readCursor(fields.optionalText("after", 200)),
    };
    const call = { target: "api.statement.get", does: "list", references: async () => [] } as const;
    return answerGet(processor, request, reply, call, async (shownUntil) => {
      const to = shownUntil && shownUntil < page.to ? shownUntil : page.to;
      const rows = await readStatement(processor.db, { ...page, to });
      const data = rows.slice(0, limit);
      const last = data.at(-1);
      return { data, next: rows.length > limit && last ? cursorOf(last) : null };
    });
  });
}

function cursorOf(row: StatementRow): string {
  return Buffer.from(`${row.moved_at.toISOString()} ${row.id}`).toString("base64url");
}

function readCursor(cursor: string | null): { moved_at: Date; id: string } {
  if (cursor === null) return { moved_at: new Date(0), id: "" };
  const [time = "", id = ""] = Buffer.from(cursor, "base64url").toString("utf8").split(" ");
  const moved_at = new Date(time);
  if (Number.isNaN(moved_at.getTime()) || !/^[a-z]+_[0-9a-z]+$/.test(id)) throw badField("after", "is malformed");
  return { moved_at, id };
}
