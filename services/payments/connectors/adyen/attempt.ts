// The data of an attempt in an AUTHORISATION: https://docs.adyen.com/development-resources/webhooks/additional-settings
import type { Attempt, Card, PaymentMethod, Verification } from "../../rules/payment.ts";
import type { Notice, NoticeDetails } from "../notice-log.ts";

export function attemptOf({ ref, at, details }: Notice): Attempt {
  const [card, method] = [cardOf(details), methodOf(details)];
  return { ref, startedAt: at, card, verification: verificationOf(details), ...(method && { method }) };
}

/** Variants of wallets end in their name, such as `visa_applepay`. */
function methodOf(details: NoticeDetails): PaymentMethod | undefined {
  const name = textOf(details, "method");
  if (textOf(details, "cardSummary") === "") return name === "" ? undefined : { type: name };
  const [, ending = ""] = /_(applepay|googlepay)$/.exec(textOf(details, "paymentMethodVariant")) ?? [];
  const wallet = ending.replace("pay", "_pay");
  return { type: "card", ...(wallet !== "" && { wallet }) };
}

/** A field of a notice as text; empty: absent. */
export function textOf(details: NoticeDetails, name: string): string {
  const value = details[name];
  return value === undefined ? "" : String(value);
}

// Adyen's names of card networks that differ from ours.
const brands: Readonly<Record<string, string>> = { mc: "mastercard", cup: "unionpay", diners: "diners_club" };

function cardOf(details: NoticeDetails): Card | undefined {
  const last4 = textOf(details, "cardSummary");
  if (last4 === "") return undefined;
  const method = textOf(details, "method");
  const [month = "", year = ""] = textOf(details, "expiryDate").split("/");
  return {
    brand: brands[method] ?? (method || "unknown"),
    last4,
    funding: textOf(details, "fundingSource").toLowerCase() || "unknown",
    fingerprint: textOf(details, "alias"),
    expMonth: Number(month) || 0,
    expYear: Number(year) || 0,
  };
}

function verificationOf(details: NoticeDetails): Verification {
  const [avsLine1 = "unchecked", avsZip = "unchecked"] = avsResults[codeOf(textOf(details, "avsResult"))] ?? [];
  const isOffered = textOf(details, "threeDOffered") === "true";
  const isAuthenticated = textOf(details, "threeDAuthenticated") === "true";
  return {
    avsLine1,
    avsZip,
    cvcCheck: cvcResults[codeOf(textOf(details, "cvcResult"))] ?? "unchecked",
    threeDsResult: isAuthenticated ? "authenticated" : isOffered ? "failed" : "",
    threeDsVersion: isOffered || isAuthenticated ? textOf(details, "threeDSVersion") : "",
    riskLevel: riskLevels[textOf(details, "fraudRiskLevel")] ?? "not_assessed",
    riskScore: Number(textOf(details, "totalFraudScore")) || 0,
  };
}

/** The number that begins a result such as `1 Matches`. */
function codeOf(result: string): string {
  return result.match(/^\d+/)?.[0] ?? "";
}

// https://docs.adyen.com/development-resources/test-cards-and-credentials/cvc-cvv-result-testing
const cvcResults: Readonly<Record<string, string>> = {
  "1": "pass",
  "2": "fail",
  "3": "unchecked",
  "4": "fail",
  "5": "unavailable",
  "6": "unchecked",
};
// Street, postal code: https://docs.adyen.com/risk-management/avs-checks
const avsResults: Readonly<Record<string, readonly [line1: string, zip: string]>> = {
  "0": ["unavailable", "unavailable"],
  "1": ["pass", "fail"],
  "2": ["fail", "fail"],
  "3": ["unavailable", "unavailable"],
  "4": ["unavailable", "unavailable"],
  "6": ["fail", "pass"],
  "7": ["pass", "pass"],
  "9": ["pass", "unchecked"],
  "10": ["fail", "unchecked"],
  "12": ["pass", "unchecked"],
  "13": ["fail", "unchecked"],
  "14": ["unchecked", "pass"],
  "15": ["unchecked", "pass"],
  "16": ["unchecked", "fail"],
  "17": ["unchecked", "fail"],
};
const riskLevels: Readonly<Record<string, string>> = {
  veryLow: "normal",
  low: "normal",
  medium: "elevated",
  high: "highest",
  veryHigh: "highest",
};
