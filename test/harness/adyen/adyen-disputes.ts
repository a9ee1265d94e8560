// Adyen's Disputes API in its stand-in: reasons to defend, documents, one answer. Its refusals are fields of a
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
/** Types of documents by reason, the first one required. Adyen's example has two at most; schemes have more. */
const reasons: Readonly<Record<string, readonly [string, ...string[]]>> = {
  SupplyDefenseMaterial: ["DefenseMaterial", "TIDorInvoice"],
  GoodsWereAsDescribed: ["GoodsWereAsDescribed", "TIDorInvoice", "DefenseMaterial"],
};

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
      const listed = isOpen && name === "DefenseReasons" ? { defenseReasons: reasonsOf(dispute) } : {};
      return { ...listed, disputeServiceResult: result };
    },
  };
}

function reasonsOf({ documents }: Dispute): Wire<models.DefenseReason>[] {
  return Object.entries(reasons).map(([defenseReasonCode, types]) => {
    const defenseDocumentTypes = types.map((defenseDocumentTypeCode, at) => {
      const available = documents.has(defenseDocumentTypeCode);
      return { defenseDocumentTypeCode, available, requirementLevel: at === 0 ? "Required" : "Optional" };
    });
    return { defenseReasonCode, satisfied: documents.has(types[0]), defenseDocumentTypes };
  });
}

const base = "POST /ca/services/DisputeService/v30";
export const disputeRoutes: Readonly<Record<string, Route>> = {
  [`${base}/retrieveApplicableDefenseReasons`]: disputeRoute("DefenseReasons", () => ""),
  [`${base}/supplyDefenseDocument`]: disputeRoute("SupplyDefenseDocument", (dispute, body) => {
    for (const { content, contentType, defenseDocumentTypeCode: type } of body.defenseDocuments) {
      const isLarge = Buffer.from(content, "base64").length > (sizeMax[contentType] ?? 0);
      if (isLarge || !Object.values(reasons).flat().includes(type)) return `${contentType}: not accepted`;
    }
    for (const { defenseDocumentTypeCode: type } of body.defenseDocuments) dispute.documents.add(type);
    return "";
  }),
  [`${base}/defendDispute`]: disputeRoute("DefendDispute", (dispute, body, account) => {
    const [needed = ""] = reasons[body.defenseReasonCode] ?? [];
    if (!dispute.documents.has(needed)) return "A required document is missing";
    dispute.isAnswered = true;
    account.later("INFORMATION_SUPPLIED", body.disputePspReference, { additionalData: { disputeStatus: "Responded" } });
    return "";
  }),
  [`${base}/acceptDispute`]: disputeRoute("AcceptDispute", (dispute) => {
    dispute.isAnswered = true;
    return "";
  }),
};
