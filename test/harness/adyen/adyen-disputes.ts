// Adyen's Disputes API in its stand-in: reasons to defend, documents, one answer. Its refusals are fields of a success,
// and it knows no keys and no status.
import type * as models from "@adyen/api-library/lib/src/typings/disputes/models.js";
import type { AdyenAccount } from "./adyen-account.ts";
import type { Wire } from "./adyen-fields.ts";
import type { Route } from "./adyen-routes.ts";

type Body = Wire<
  models.SupplyDefenseDocumentRequest & models.DefendDisputeRequest & models.DeleteDefenseDocumentRequest
>;
type Dispute = AdyenAccount["disputes"] extends Map<string, infer Entry> ? Entry : never;

/** Bytes by content type; PNG is not accepted. */
const sizeMax: Readonly<Record<string, number>> = { "image/jpeg": 10e6, "image/tiff": 10e6, "application/pdf": 2e6 };
/** Types of documents by reason; the first is required. */
const reasons: Readonly<Record<string, readonly [string, ...string[]]>> = {
  GoodsNotReturned: ["GoodsNotReturned", "TIDorInvoice", "DefenseMaterial"],
  SupplyDefenseMaterial: ["DefenseMaterial"],
};
const documentTypes = new Set(Object.values(reasons).flat());

/** @param serve returns why the dispute cannot be handled so, or nothing */
function disputeRoute(
  name: string,
  gives: string,
  serve: (dispute: Dispute, body: Body, account: AdyenAccount) => string,
): Route {
  return {
    ...{ library: "disputes", takes: `${name}Request`, gives: `${gives}Response`, status: 200 },
    serve: ({ account, body: any }) => {
      const body = any as Body;
      const dispute = account.disputes.get(body.disputePspReference);
      const open = dispute && !dispute.isAnswered ? dispute : undefined;
      const errorMessage = open ? serve(open, body, account) : "The dispute cannot be answered";
      const result = errorMessage === "" ? { success: true } : { success: false, errorMessage };
      const listed = open && gives === "DefenseReasons" ? { defenseReasons: reasonsOf(open) } : {};
      return { ...listed, disputeServiceResult: result };
    },
  };
}

function reasonsOf({ documents }: Dispute): Wire<models.DefenseReason>[] {
  return Object.entries(reasons).map(([defenseReasonCode, types]) => ({
    ...{ defenseReasonCode, satisfied: documents.has(types[0]) },
    defenseDocumentTypes: types.map((type, at) => ({
      ...{
        defenseDocumentTypeCode: type,
        available: documents.has(type),
        requirementLevel: at ? "Optional" : "Required",
      },
    })),
  }));
}

const base = "POST /ca/services/DisputeService/v30";
export const disputeRoutes: Readonly<Record<string, Route>> = {
  [`${base}/retrieveApplicableDefenseReasons`]: disputeRoute("DefenseReasons", "DefenseReasons", () => ""),
  [`${base}/supplyDefenseDocument`]: disputeRoute(
    "SupplyDefenseDocument",
    "SupplyDefenseDocument",
    ({ documents }, body) => {
      for (const { content, contentType, defenseDocumentTypeCode: type } of body.defenseDocuments) {
        const max = sizeMax[contentType] ?? 0;
        if (!documentTypes.has(type) || Buffer.from(content, "base64").length > max)
          return `${contentType}: not accepted`;
      }
      for (const each of body.defenseDocuments) documents.add(each.defenseDocumentTypeCode);
      return "";
    },
  ),
  [`${base}/deleteDisputeDefenseDocument`]: disputeRoute(
    "DeleteDefenseDocument",
    "DeleteDefenseDocument",
    ({ documents }, body) => (documents.delete(body.defenseDocumentType) ? "" : "No such document"),
  ),
  [`${base}/defendDispute`]: disputeRoute("DefendDispute", "DefendDispute", (dispute, body, account) => {
    const needed = reasons[body.defenseReasonCode]?.[0];
    if (needed === undefined || !dispute.documents.has(needed)) return "A required document is missing";
    dispute.isAnswered = true;
    account.later("INFORMATION_SUPPLIED", body.disputePspReference, { additionalData: { disputeStatus: "Responded" } });
    return "";
  }),
  [`${base}/acceptDispute`]: disputeRoute("AcceptDispute", "AcceptDispute", (dispute) => {
    dispute.isAnswered = true;
    return "";
  }),
};
