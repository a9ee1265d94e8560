// Words of payments that come as codes: reasons of failures with their advice, states of refunds, disputes and
// sessions, movements of the books, acts. One that this release does not know is shown by its own name.
import type { Tone } from "../../view/pieces.ts";
import { both, type Language } from "../both.ts";

const failures = both(
  {
    card_declined: "Card declined",
    insufficient_funds: "Not enough money on the card",
    expired_card: "Card expired",
    incorrect_cvc: "Wrong security code",
    incorrect_number: "Wrong card number",
    processing_error: "Error at the processor",
    authentication_failed: "Buyer not authenticated",
    authentication_required: "The bank asks for authentication",
    blocked: "Blocked",
    lost_or_stolen: "Card reported lost or stolen",
    card_not_supported: "Card not supported",
    currency_not_supported: "Currency not supported",
    limit_exceeded: "Limit of the card exceeded",
    duplicate: "Taken for a repeated payment",
    canceled_by_buyer: "Given up by the buyer",
    expired: "Not captured in time",
    not_processed: "Never processed",
    returned: "Returned after success",
    unknown: "Reason not told",
    retry_later: "The buyer can try the same card again.",
    use_another_card: "The buyer should use another card.",
    contact_issuer: "The buyer should ask their bank.",
    do_not_retry: "Do not try this card again.",
  },
  {
    card_declined: "Karte abgelehnt",
    insufficient_funds: "Zu wenig Geld auf der Karte",
    expired_card: "Karte abgelaufen",
    incorrect_cvc: "Falsche Prüfnummer",
    incorrect_number: "Falsche Kartennummer",
    processing_error: "Fehler beim Dienstleister",
    authentication_failed: "Käufer nicht bestätigt",
    authentication_required: "Die Bank verlangt eine Bestätigung",
    blocked: "Blockiert",
    lost_or_stolen: "Karte als verloren oder gestohlen gemeldet",
    card_not_supported: "Karte nicht unterstützt",
    currency_not_supported: "Währung nicht unterstützt",
    limit_exceeded: "Kartenlimit überschritten",
    duplicate: "Für eine Wiederholung gehalten",
    canceled_by_buyer: "Vom Käufer abgebrochen",
    expired: "Nicht rechtzeitig eingezogen",
    not_processed: "Nie verarbeitet",
    returned: "Nach Erfolg zurückgegeben",
    unknown: "Grund nicht genannt",
    retry_later: "Der Käufer kann dieselbe Karte noch einmal versuchen.",
    use_another_card: "Der Käufer sollte eine andere Karte nehmen.",
    contact_issuer: "Der Käufer sollte seine Bank fragen.",
    do_not_retry: "Diese Karte nicht noch einmal versuchen.",
  },
);

const states = both(
  {
    pending: "On its way",
    succeeded: "Refunded",
    failed: "Failed",
    canceled: "Canceled",
    warning_needs_response: "Inquiry: answer it",
    warning_under_review: "Inquiry under review",
    warning_closed: "Inquiry closed",
    needs_response: "Needs your answer",
    under_review: "Under review",
    won: "Won",
    lost: "Lost",
    open: "Open",
    processing: "Processing",
    completed: "Paid",
    expired: "Expired",
  },
  {
    pending: "Unterwegs",
    succeeded: "Erstattet",
    failed: "Fehlgeschlagen",
    canceled: "Storniert",
    warning_needs_response: "Rückfrage: bitte antworten",
    warning_under_review: "Rückfrage in Prüfung",
    warning_closed: "Rückfrage erledigt",
    needs_response: "Ihre Antwort fehlt",
    under_review: "In Prüfung",
    won: "Gewonnen",
    lost: "Verloren",
    open: "Offen",
    processing: "In Bearbeitung",
    completed: "Bezahlt",
    expired: "Abgelaufen",
  },
);

const tones: ReadonlyMap<string, Tone> = new Map(
  Object.entries({
    pending: "wait",
    succeeded: "good",
    failed: "bad",
    warning_needs_response: "wait",
    needs_response: "bad",
    under_review: "wait",
    warning_under_review: "wait",
    won: "good",
    lost: "bad",
    open: "wait",
    processing: "wait",
    completed: "good",
  } as const),
);

const books = both(
  {
    captured: "Captured",
    fee_charged: "Fee",
    refund_reserved: "Refund reserved",
    refund_released: "Refund released",
    refund_paid: "Refund paid",
    refund_returned: "Refund came back",
    dispute_held: "Held for a dispute",
    dispute_released: "Dispute released",
    dispute_lost: "Dispute lost",
    dispute_recovered: "Dispute recovered",
    capture_returned: "Capture returned",
    fee_returned: "Fee returned",
    suspense_held: "Unexpected charge",
    suspense_released: "Unexpected charge ended",
    suspense_refunded: "Unexpected refund",
    suspense_refund_released: "Unexpected refund ended",
    suspense_kept: "Unexpected charge closed",
    suspense_written_off: "Unexpected refund closed",
    processor_clearing: "Processor",
    merchant_balance: "Merchant",
    fees_revenue: "Fees",
    refunds_pending: "Refunds under way",
    disputes_held: "Disputes",
    suspense: "Unexpected funds",
    adjustments: "Adjustments",
  },
  {
    captured: "Eingezogen",
    fee_charged: "Gebühr",
    refund_reserved: "Erstattung vorgemerkt",
    refund_released: "Erstattung aufgehoben",
    refund_paid: "Erstattung ausgezahlt",
    refund_returned: "Erstattung kam zurück",
    dispute_held: "Für Reklamation einbehalten",
    dispute_released: "Reklamation freigegeben",
    dispute_lost: "Reklamation verloren",
    dispute_recovered: "Reklamation zurückgewonnen",
    capture_returned: "Einzug zurückgegeben",
    fee_returned: "Gebühr zurückgegeben",
    suspense_held: "Unerwartete Abbuchung",
    suspense_released: "Unerwartete Abbuchung beendet",
    suspense_refunded: "Unerwartete Erstattung",
    suspense_refund_released: "Unerwartete Erstattung beendet",
    suspense_kept: "Unerwartete Abbuchung geschlossen",
    suspense_written_off: "Unerwartete Erstattung geschlossen",
    processor_clearing: "Dienstleister",
    merchant_balance: "Händler",
    fees_revenue: "Gebühren",
    refunds_pending: "Laufende Erstattungen",
    disputes_held: "Reklamationen",
    suspense: "Ungeklärtes Geld",
    adjustments: "Berichtigungen",
  },
);

const acts = both(
  {
    "refund.requested": "Refund asked for",
    "operation.capture_requested": "Capture asked for",
    "operation.cancel_requested": "Cancellation asked for",
    "session.expiry_requested": "Checkout session ended",
    "dispute_response.evidence_requested": "Evidence sent",
    "dispute_response.acceptance_requested": "Dispute accepted",
    "operation.retried": "Operation retried",
    "operation.resolved": "Operation resolved",
  },
  {
    "refund.requested": "Erstattung verlangt",
    "operation.capture_requested": "Einzug verlangt",
    "operation.cancel_requested": "Stornierung verlangt",
    "session.expiry_requested": "Bezahlvorgang beendet",
    "dispute_response.evidence_requested": "Belege geschickt",
    "dispute_response.acceptance_requested": "Reklamation anerkannt",
    "operation.retried": "Vorgang wiederholt",
    "operation.resolved": "Vorgang geklärt",
  },
);

function word(texts: Readonly<Record<string, unknown>>, code: string): string {
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  return typeof text === "string" ? text : code;
}

/** A reason of a failure, or its advice. */
export function failureWord(language: Language, code: string): string {
  return word(failures[language], code);
}

/** The state of a refund, a dispute or a checkout session, with its tone. */
export function stateWord(language: Language, code: string): { readonly text: string; readonly tone: Tone } {
  return { text: word(states[language], code), tone: tones.get(code) ?? "quiet" };
}

/** A movement of the books, or an account. */
export function bookWord(language: Language, code: string): string {
  return word(books[language], code);
}

export function actWord(language: Language, code: string): string {
  return word(acts[language], code);
}
