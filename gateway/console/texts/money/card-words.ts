// Words of cards and of what banks say of them: networks, kinds, checks, risk, reasons. A code that this release does
// not know is shown by its own name.
import { cardNetworks } from "#platform/values/money.ts";
import { both, type Language } from "../both.ts";

const fundings = both(
  { credit: "credit card", debit: "debit card", prepaid: "prepaid card", unknown: "" },
  { credit: "Kreditkarte", debit: "Debitkarte", prepaid: "Prepaidkarte", unknown: "" },
);

const checks = both(
  {
    pass: "Right",
    fail: "Wrong",
    unavailable: "Not available",
    unchecked: "Not checked",
    authenticated: "Authenticated",
    attempt_acknowledged: "Attempt acknowledged",
    exempted: "Exempted",
    failed: "Failed",
    not_supported: "Not supported",
    processing_error: "Error at the bank",
    normal: "Normal",
    elevated: "Elevated",
    highest: "Highest",
    not_assessed: "Not assessed",
  },
  {
    pass: "Richtig",
    fail: "Falsch",
    unavailable: "Nicht verfügbar",
    unchecked: "Nicht geprüft",
    authenticated: "Bestätigt",
    attempt_acknowledged: "Versuch anerkannt",
    exempted: "Ausgenommen",
    failed: "Fehlgeschlagen",
    not_supported: "Nicht unterstützt",
    processing_error: "Fehler bei der Bank",
    normal: "Normal",
    elevated: "Erhöht",
    highest: "Am höchsten",
    not_assessed: "Nicht bewertet",
  },
);

const reasons = both(
  {
    bank_cannot_process: "The bank cannot process it",
    check_returned: "Returned check",
    credit_not_processed: "A refund did not come",
    customer_initiated: "The buyer asked for it",
    debit_not_authorized: "Debit not authorized",
    duplicate: "Charged twice",
    fraudulent: "Fraud",
    general: "No particular reason",
    incorrect_account_details: "Wrong account details",
    insufficient_funds: "Not enough money",
    noncompliant: "Against the network's rules",
    product_not_received: "Nothing arrived",
    product_unacceptable: "Not as described",
    requested_by_customer: "The buyer asked for it",
    subscription_canceled: "Subscription was canceled",
    unrecognized: "Not recognized by the buyer",
  },
  {
    bank_cannot_process: "Die Bank kann sie nicht verarbeiten",
    check_returned: "Zurückgegebener Scheck",
    credit_not_processed: "Eine Erstattung kam nicht an",
    customer_initiated: "Vom Käufer verlangt",
    debit_not_authorized: "Lastschrift nicht erlaubt",
    duplicate: "Doppelt belastet",
    fraudulent: "Betrug",
    general: "Kein bestimmter Grund",
    incorrect_account_details: "Falsche Kontodaten",
    insufficient_funds: "Zu wenig Geld",
    noncompliant: "Gegen die Regeln des Kartennetzes",
    product_not_received: "Nichts angekommen",
    product_unacceptable: "Nicht wie beschrieben",
    requested_by_customer: "Vom Käufer verlangt",
    subscription_canceled: "Abonnement war gekündigt",
    unrecognized: "Vom Käufer nicht erkannt",
  },
);

function word(texts: Readonly<Record<string, unknown>>, code: string): string {
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  return typeof text === "string" ? text : code;
}

/** As `Visa ····4242`; empty: no card is known. */
export function cardText(card: { readonly brand: string; readonly last4: string } | undefined): string {
  return card && card.last4 !== "" ? `${cardNetworks.get(card.brand) ?? card.brand} ····${card.last4}` : "";
}

export function fundingWord(language: Language, code: string): string {
  return word(fundings[language], code);
}

/** What a check of the card gave, 3-D Secure, or the level of the risk. */
export function checkWord(language: Language, code: string): string {
  return word(checks[language], code);
}

/** Why a buyer disputes, or somebody refunds; what a person wrote stays as it is. */
export function reasonWord(language: Language, code: string): string {
  return word(reasons[language], code);
}
