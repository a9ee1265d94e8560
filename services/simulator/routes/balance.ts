// GET /api/movements, /api/payouts and /api/balance: the account's money.
import type { FastifyInstance } from "fastify";
import { notFound } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { type ListPage, listMovements, readBalance } from "../store/movements.ts";
import { findPayout, listPayouts } from "../store/payouts.ts";
import { accountOf, answerGet } from "./api-request.ts";
import { cursorOf, readCursor } from "./events.ts";
import { Fields } from "./fields.ts";
import type { IdPath } from "./test-actions.ts";

const limitDefault = 100;
const limitMax = 500;
const beginning = new Date(0);
const end = new Date(8.64e15); // includes what moves after this request began

export function balanceRoutes(app: FastifyInstance, processor: Processor): void {
  const { db } = processor;
  const references = async () => [];

  app.get("/api/movements", (request, reply) => {
    const page = readPage(accountOf(request), request.query);
    const call = { target: "api.movements.get", does: "list", references } as const;
    return answerGet(processor, request, reply, call, (shownUntil) =>
      pageOf(page, shownUntil, (wanted) => listMovements(db, wanted, null)),
    );
  });

  app.get("/api/payouts", (request, reply) => {
    const page = readPage(accountOf(request), request.query);
    const call = { target: "api.payouts.get", does: "list", references } as const;
    return answerGet(processor, request, reply, call, (shownUntil) =>
      pageOf(page, shownUntil, (wanted) => listPayouts(db, wanted)),
    );
  });

  app.get<IdPath>("/api/payouts/:id/movements", (request, reply) => {
    const { id } = request.params;
    const account = accountOf(request);
    const page = readPage(account, request.query);
    const call = { target: "api.payouts.get", does: "list", references } as const;
    return answerGet(processor, request, reply, call, async (shownUntil) => {
      const payout = await findPayout(db, account, id);
      // A part of its movements would look like all of them, and they are older than the payout.
      if (!payout || (shownUntil && payout.created_at > shownUntil)) throw notFound("payout");
      return await pageOf(page, shownUntil, (wanted) => listMovements(db, wanted, id));
    });
  });

  app.get("/api/balance", (request, reply) => {
    const account = accountOf(request);
    const call = { target: "api.balance.get", does: "list", references } as const;
    return answerGet(processor, request, reply, call, async (shownUntil) => ({
      data: await readBalance(db, account, shownUntil ?? end),
    }));
  });
}

function readPage(account: string, query: unknown): ListPage {
  const fields = new Fields(query);
  return {
    account,
    from: fields.queryTime("since") ?? beginning,
    until: end,
    limit: fields.queryInteger("limit", 1, limitMax, limitDefault),
    after: readCursor(fields.optionalText("after", 200)) ?? { created_at: beginning, seq: 0 },
  };
}

async function pageOf<T extends { readonly seq: number; readonly created_at: Date }>(
  page: ListPage,
  shownUntil: Date | undefined,
  read: (page: ListPage) => Promise<readonly T[]>,
) {
  // The extra row shows whether there is a next page.
  const rows = await read({ ...page, until: shownUntil ?? page.until, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const data = shown.map(({ seq: _order, ...row }) => row);
  return { data, next: rows.length > page.limit && last ? cursorOf(last) : null };
}
