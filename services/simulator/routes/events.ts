// GET /api/events: the account's events, for callers that missed webhooks.
import type { FastifyInstance } from "fastify";
import { badField } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { type ListedEvent, listAccountEvents, newestAccountEvents } from "../store/events.ts";
import { accountOf, answerGet } from "./api-request.ts";
import { Fields } from "./fields.ts";

const limitDefault = 100;
const limitMax = 500;
const pageBytesMax = 1_000_000; // an event can have 60,000
const beginning = new Date(0);

export function eventRoutes(app: FastifyInstance, processor: Processor): void {
  app.get("/api/events", (request, reply) => {
    const fields = new Fields(request.query);
    const account = accountOf(request);
    const since = fields.queryTime("since");
    const limit = fields.queryInteger("limit", 1, limitMax, limitDefault);
    const after = readCursor(fields.optionalText("after", 200));
    const call = { target: "api.events.get", does: "list", references: async () => [] } as const;
    return answerGet(processor, request, reply, call, async (shownUntil) => {
      const until = shownUntil ?? new Date(8.64e15); // includes events that began after this request
      if (!since && !after) {
        const newest = await newestAccountEvents(processor.db, { account, until, limit });
        return { data: fittingOnes(newest.reverse()).reverse().map(bodyOf), next: null };
      }
      const rows = await listAccountEvents(processor.db, {
        account,
        from: since ?? beginning,
        until,
        limit: limit + 1, // the extra row shows whether there is a next page
        after: after ?? { created_at: beginning, seq: 0 },
      });
      const data = fittingOnes(rows.slice(0, limit));
      const last = data.at(-1);
      return { data: data.map(bodyOf), next: rows.length > data.length && last ? cursorOf(last) : null };
    });
  });
}

/** The first events up to the size limit, at least one. */
function fittingOnes(rows: readonly ListedEvent[]): ListedEvent[] {
  let bytes = 0;
  return rows.filter(({ body }, i) => {
    bytes += Buffer.byteLength(body);
    return i === 0 || bytes <= pageBytesMax;
  });
}

function bodyOf({ body }: ListedEvent): unknown {
  return JSON.parse(body);
}

/** The cursor behind a row of a list in the order of creation. */
export function cursorOf({ created_at, seq }: Pick<ListedEvent, "created_at" | "seq">): string {
  return Buffer.from(`${created_at.toISOString()} ${seq}`).toString("base64url");
}

export function readCursor(cursor: string | null): { created_at: Date; seq: number } | undefined {
  if (cursor === null) return undefined;
  const [time = "", seq = ""] = Buffer.from(cursor, "base64url").toString("utf8").split(" ");
  const created_at = new Date(time);
  if (Number.isNaN(created_at.getTime()) || !/^\d{1,15}$/.test(seq)) throw badField("after", "is malformed");
  return { created_at, seq: Number(seq) };
}
