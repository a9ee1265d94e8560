// Erasures and exports of buyers' personal data as public JSON (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type { Erasure, ExportBuyerResponse } from "#proto/checkout/v1/privacy_pb.ts";
import { presentSession, SessionJson } from "./checkout-session.ts";
import { idSchema, jsonComponent, listValues, textSchema, timeSchema } from "./field.ts";
import { PaymentJson, presentPayment } from "./payment.ts";
import { presentMessage } from "./present.ts";

const count = (of: string) => Type.Integer({ description: `${of} whose data is erased so far.`, examples: [3] });

export const ErasureJson = jsonComponent(
  "Erasure",
  Type.Object({
    id: idSchema("erasure"),
    status: textSchema(listValues(["running", "finished"]), "finished"),
    payments: count("Payments"),
    sessions: count("Checkout sessions"),
    payment_links: count("Payment links"),
    created_at: timeSchema("When it was requested."),
    finished_at: Type.Optional(timeSchema("Absent while it runs.")),
    copies_until: timeSchema("Until when backups and encrypted copies for a recovery may hold the data."),
  }),
);

export const BuyerExportJson = jsonComponent(
  "BuyerExport",
  Type.Object({
    sessions: Type.Array(SessionJson, { description: "Newest first." }),
    payments: Type.Array(PaymentJson, { description: "Newest first." }),
    has_more: Type.Boolean({ description: "There are more than the newest 1,000 of each.", examples: [false] }),
  }),
);

export function presentErasure(erasure: Erasure | undefined): Static<typeof ErasureJson> {
  return presentMessage(ErasureJson, erasure);
}

export function presentExport({ sessions, payments, hasMore }: ExportBuyerResponse): Static<typeof BuyerExportJson> {
  return { sessions: sessions.map(presentSession), payments: payments.map(presentPayment), has_more: hasMore };
}
