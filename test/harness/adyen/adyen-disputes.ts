// Adyen's Disputes API in its stand-in: a reason to defend, documents, one answer. Its refusals are fields of a
// success, and it knows no keys and no status.
import type * as models from "@adyen/api-library/lib/src/typings/disputes/models.js";
import type { AdyenAccount } from "./adyen-account.ts";
import type { Wire } from "./adyen-fields.ts";
import type { Route } from "./adyen-routes.ts";

type Body = Wire<models.SupplyDefenseDocumentRequest & models.DefendDisputeRequest>;
type Dispute = NonNullable<ReturnType<AdyenAccount["disputes"]["get"]>>;
type Serve = (dispute: Dispute, body: Body, account: AdyenAccount) => string;

/** Bytes by content type; PNG is not accepted. */
const sizeMax: Readonly<Record<string, number>> = { "image/jpeg": 10e6, "image/tiff": 10e6, "application/pdf": 2e6 };
const [reason, types] = ["SupplyDefenseMaterial", ["DefenseMaterial", "TIDorInvoice", "GoodsNotReturned"]] as const;
const known: ReadonlySet<string> = new Set(types);

/** @param serve returns why the dispute cannot be handled so, or nothing */
function disputeRoute(name: string, serve: Serve): Route {
  return {
    ...{ library: "disputes", takes: `${name}Request`, gives: `${name}Response`, status: 200 },
    serve: ({ account, body: sent }) => {
      const body = sent as Body;
      const dispute = account.disputes.get(body.disputePspReference);
      const isOpen = dispute && !dispute.isAnswered;
      const errorMessage = isOpen ? serve(dispute, body, account) : "The dispute cannot be answered";
      const result = errorMessage === "" ? { success: true } : { success: false, errorMessage };
      const available = dispute !== undefined && dispute.documents > 0;
      const defenseDocumentTypes = types.map((defenseDocumentTypeCode, at) => {
        return { defenseDocumentTypeCode, available, requirementLevel: at ? "Optional" : "Required" };
      });
      const listed = [{ defenseReasonCode: reason, satisfied: available, defenseDocumentTypes }];
      return { ...(isOpen && name === "DefenseReasons" && { defenseReasons: listed }), disputeServiceResult: result };
    },
  };
}

const base = "POST /ca/services/DisputeService/v30";
export const disputeRoutes: Readonly<Record<string, Route>> = {
  [`${base}/retrieveApplicableDefenseReasons`]: disputeRoute("DefenseReasons", () => ""),
  [`${base}/supplyDefenseDocument`]: disputeRoute("SupplyDefenseDocument", (dispute, body) => {
    for (const { content, contentType, defenseDocumentTypeCode: type } of body.defenseDocuments) {
      const isLarge = Buffer.from(content, "base64").length > (sizeMax[contentType] ?? 0);
      if (isLarge || !known.has(type)) return `${contentType}: not accepted`;
    }
    dispute.documents += body.defenseDocuments.length;
    return "";
  }),
  [`${base}/defendDispute`]: disputeRoute("DefendDispute", (dispute, body, account) => {
    if (dispute.documents === 0 || body.defenseReasonCode !== reason) return "A required document is missing";
    dispute.isAnswered = true;
    account.later("INFORMATION_SUPPLIED", body.disputePspReference, { additionalData: { disputeStatus: "Responded" } });
    return "";
  }),
  [`${base}/acceptDispute`]: disputeRoute("AcceptDispute", (dispute) => {
    dispute.isAnswered = true;
    return "";
  }),
};
