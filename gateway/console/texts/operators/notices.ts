// What was done at the operators' console, told once on the page that follows. The keys stand in addresses.
import { both } from "../both.ts";

export const operatorNoticeTexts = both(
  {
    "merchant-state": "The merchant's status is changed.",
    "merchant-switches": "The switches are saved.",
    "application-approved": "The application is approved; its merchant is there.",
    "application-rejected": "The application is rejected.",
    "operation-retried": "The processor is asked again, from now on as often as for a new one.",
    "operation-resolved": "The operation is ended by your word.",
    "suspense-resolved": "Done: the row is up to date.",
    "suspense-under-way": "The refund is under way; the row closes when the processor confirms it.",
    "statement-matched": "The day is compared; the differences that stand are below.",
    "member-changed": "The member is changed.",
    "member-removed": "The member is removed.",
    "invitation-revoked": "The invitation is taken back.",
    "rule-saved": "The rule is saved.",
    "rule-removed": "The rule is removed.",
    "fee-set": "The schedule is added.",
    "fee-removed": "The schedule is removed.",
    "adjustment-proposed": "The adjustment is proposed; another person has to approve it.",
    "adjustment-approved": "The adjustment is posted.",
    "adjustment-rejected": "The adjustment is rejected.",
  },
  {
    "merchant-state": "Der Status des Händlers ist geändert.",
    "merchant-switches": "Die Schalter sind gespeichert.",
    "application-approved": "Der Antrag ist angenommen; der Händler ist angelegt.",
    "application-rejected": "Der Antrag ist abgelehnt.",
    "operation-retried":
      "Der Zahlungsdienstleister wird wieder gefragt, von jetzt an so oft wie bei einem neuen Vorgang.",
    "operation-resolved": "Der Vorgang ist durch Ihr Wort beendet.",
    "suspense-resolved": "Erledigt: Der Posten ist auf dem neuesten Stand.",
    "suspense-under-way":
      "Die Erstattung läuft; der Posten schließt, sobald der Zahlungsdienstleister sie bestätigt.",
    "statement-matched": "Der Tag ist verglichen; bestehende Abweichungen stehen unten.",
    "member-changed": "Das Mitglied ist geändert.",
    "member-removed": "Das Mitglied ist entfernt.",
    "invitation-revoked": "Die Einladung ist zurückgenommen.",
    "rule-saved": "Die Regel ist gespeichert.",
    "rule-removed": "Die Regel ist entfernt.",
    "fee-set": "Die Gebühr ist hinzugefügt.",
    "fee-removed": "Die Gebühr ist entfernt.",
    "adjustment-proposed": "Die Buchung ist vorgeschlagen; eine andere Person muss sie freigeben.",
    "adjustment-approved": "Die Buchung ist gebucht.",
    "adjustment-rejected": "Die Buchung ist abgelehnt.",
  },
);
