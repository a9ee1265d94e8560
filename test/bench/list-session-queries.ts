// What the list benchmark asks of sessions: the filters of GET /v1/checkout-sessions alone and together, and searches
// from one hit to half a million.
import type { Database } from "#platform/database/database.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type ListFilter, listSessions } from "../../services/checkout/store/session-lists.ts";
import type { ListQuery } from "./list-queries.ts";

const dayMs = 86_400_000;
const everything: ListFilter = {
  merchantId: "mer_big",
  environment: Environment.SANDBOX,
  status: "",
  from: undefined,
  to: undefined,
  orderReference: "",
  customerEmail: "",
  q: "",
};

export function sessionListQueries(db: Database): readonly ListQuery[] {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  // Some minutes into an hour, another one each time.
  const moment = (ago: number, i: number) => new Date(today - ago * dayMs + 34_567_890 + i * 60_000);
  const list = (name: string, filters: (i: number) => Partial<ListFilter>, offset = 0n): ListQuery => ({
    name: `sessions: ${name}`,
    run: async (i) => (await listSessions(db, { ...everything, ...filters(i) }, { limit: 50, offset })).total,
  });
  const month = (ago: number) => new Date(today - ago * dayMs).toISOString().slice(0, 7).replace("-", "");
  const narrow = (i: number) => ({ status: "completed", from: moment(300, i), to: moment(30, i) });
  return [
    list("no filter", () => ({})),
    list("a status", () => ({ status: "completed" })),
    list("a rare status, 9 months between two moments", (i) => ({ ...narrow(i), status: "canceled" })),
    list("offset 1,000,000", () => ({}), 1_000_000n),
    list("a reference", (i) => ({ orderReference: `order-${123_456 + i}` })),
    list("an e-mail", (i) => ({ customerEmail: `buyer${12_345 + i}@Mail.example` })),
    list("an e-mail and a status", (i) => ({ customerEmail: `buyer${12_345 + i}@mail.example`, status: "expired" })),
    list("an id", () => ({ q: "cs_00000000000000000000000000" })),
    list("beginning of nothing", (i) => ({ q: `nobody${i}` })),
    list("beginning of a reference, 80 hits", (i) => ({ q: `order-${12_345 + i}` })),
    list("beginning of a reference, 8,000 hits", (i) => ({ q: `order-${123 + i}` })),
    list("beginning of a reference, 8,000 hits, status, 9 months", (i) => ({ q: `order-${123 + i}`, ...narrow(i) })),
    list("beginning of a reference, 80,000 hits", (i) => ({ q: `order-${12 + (i % 80)}` })),
    list("beginning of a reference, 80,000 hits, status, 9 months", (i) => ({
      ...{ q: `order-${12 + (i % 80)}`, ...narrow(i) },
    })),
    list("beginning of a reference, 80,000 hits, offset 70,000", (i) => ({ q: `order-${12 + (i % 80)}` }), 70_000n),
    list("beginning of a reference of last year, 50,000 hits", () => ({ q: `R${month(330)}` })),
    list("beginning of a reference of last year, 50,000 hits, status, 9 months", (i) => ({
      ...{ q: `R${month(270)}`, ...narrow(i) },
    })),
    list("beginning of an e-mail, 50 hits", (i) => ({ q: `buyer${12_345 + i}@` })),
    list("beginning of an e-mail, 5,500 hits", (i) => ({ q: `buyer${123 + (i % 800)}` })),
    list("beginning of an e-mail, 55,000 hits", (i) => ({ q: `buyer${12 + (i % 30)}` })),
    list("beginning of an e-mail, 100,000 hits", () => ({ q: "anna." })),
    { ...list("beginning of a reference, 800,000 hits (no aim)", () => ({ q: "order-1" })), runsMax: 10 },
    { ...list("beginning of an e-mail, 2,500,000 hits (no aim)", () => ({ q: "buyer" })), runsMax: 10 },
  ];
}
