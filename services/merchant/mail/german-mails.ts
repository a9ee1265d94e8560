// The mails in German.
import { browserName } from "../rules/browser-name.ts";
import type { BrowserFacts, MailContent, MailTexts, MatterFacts } from "./mail-content.ts";

const browserText = ({ address, agent }: BrowserFacts) =>
  `Adresse: ${address || "unbekannt"}. Browser: ${browserName(agent) || "unbekannt"}.`;

/** A notification for the people of a shop. */
function about(facts: MatterFacts, subject: string, label: string, paragraphs: readonly string[]): MailContent {
  const { isSandbox, merchantName, link } = facts;
  return {
    subject: `${isSandbox ? "[Sandbox] " : ""}${merchantName}: ${subject}`,
    paragraphs: [...paragraphs, ...(isSandbox ? ["Dies geschah in der Sandbox. Es fließt kein echtes Geld."] : [])],
    button: { label, url: link },
    notes: [
      `Sie erhalten diese E-Mail, weil Sie für ${merchantName} arbeiten. Ihre Mitteilungen wählen Sie in der Konsole aus.`,
    ],
  };
}

const paid = (facts: MatterFacts) =>
  about(facts, `Zahlung über ${facts.object}`, "Zahlung ansehen", [`Ein Kunde hat ${facts.object} bezahlt.`]);

const matters: MailTexts["matters"] = {
  link_paid: paid,
  checkout_paid: paid,
  paid_daily: (facts) =>
    about(facts, `Zahlungen am ${facts.date}`, "Zahlungen ansehen", [`Am ${facts.date} bezahlt: ${facts.object}.`]),
  dispute_opened: (facts) =>
    about(facts, "neue Reklamation", "Stellung nehmen", [
      `Ein Käufer reklamiert die Zahlung ${facts.object}. Der Betrag wird einbehalten, bis die Reklamation abgeschlossen ist.`,
      ...(facts.date === "" ? [] : [`Bitte reichen Sie Ihre Belege bis zum ${facts.date} ein.`]),
    ]),
  dispute_due: (facts) =>
    about(facts, "Belege zu einer Reklamation bald fällig", "Stellung nehmen", [
      `Die Belege zur Reklamation ${facts.object} sind am ${facts.date} fällig. Ohne Belege verlieren Sie sie.`,
    ]),
  refund_failed: (facts) =>
    about(facts, "Erstattung fehlgeschlagen", "Erstattung ansehen", [
      `Die Erstattung ${facts.object} ist fehlgeschlagen. Der Käufer hat das Geld nicht erhalten.`,
    ]),
  endpoint_failing: (facts) => {
    const content = about(facts, "Webhook-Endpunkt nicht erreichbar", "Antworten ansehen", [
      `Ihr Endpunkt bei ${facts.object} hat seit über einer Stunde keine Ereignisse angenommen.`,
      "Jedes Ereignis wird drei Tage lang erneut gesendet. Sobald der Endpunkt wieder funktioniert, können Sie alle fehlgeschlagenen Ereignisse auf einmal erneut senden.",
    ]);
    return { ...content, notes: [...content.notes, "Sie erhalten höchstens eine solche E-Mail pro Endpunkt und Tag."] };
  },
  key_created: (facts) =>
    about(facts, "neuer API-Schlüssel", "API-Schlüssel ansehen", [
      `Der API-Schlüssel „${facts.object}“ wurde angelegt. Wenn das niemand aus Ihrem Team war, sperren Sie ihn sofort.`,
    ]),
  key_expiring: (facts) =>
    about(facts, "API-Schlüssel läuft bald ab", "API-Schlüssel ansehen", [
      `Der API-Schlüssel „${facts.object}“ läuft am ${facts.date} ab. Bitte ersetzen Sie ihn vorher.`,
    ]),
};

export const germanMails: MailTexts = {
  invitation: ({ link, merchantName, role, inviterName }) => {
    const where = merchantName === "" ? "die Betreiberkonsole" : `die Konsole von ${merchantName}`;
    return {
      subject: `Einladung in ${where}`,
      paragraphs: [`${inviterName || "Ein Betreiber"} lädt Sie in ${where} ein, mit der Rolle ${role}.`],
      button: { label: "Einladung ansehen", url: link },
      notes: [
        "Der Link ist sieben Tage gültig und funktioniert einmal. Wenn Sie keine Einladung erwarten, ignorieren Sie diese E-Mail.",
      ],
    };
  },
  signInLink: ({ link, ...from }) => ({
    subject: "Ihr Anmeldelink",
    paragraphs: [
      "Mit diesem Link melden Sie sich in der Konsole an. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail.",
    ],
    button: { label: "Anmelden", url: link },
    notes: [
      "Der Link ist 15 Minuten gültig und funktioniert einmal, nur in dem Browser, in dem Sie ihn angefordert haben.",
      browserText(from),
    ],
  }),
  signInMethodAdded: ({ link, ...from }) => ({
    subject: "Neue Anmeldemethode",
    paragraphs: [
      "Ihrem Konsolenkonto wurde ein Passkey oder eine Authenticator-App hinzugefügt.",
      "Wenn Sie das nicht waren, entfernen Sie diese Anmeldemethode sofort, beenden Sie Ihre anderen Sitzungen und informieren Sie einen Inhaber.",
    ],
    button: { label: "Konto prüfen", url: link },
    notes: [browserText(from)],
  }),
  newBrowser: ({ link, ...from }) => ({
    subject: "Anmeldung in einem neuen Browser",
    paragraphs: [
      "Ihr Konsolenkonto wurde in einem Browser verwendet, den Sie bisher nicht benutzt haben.",
      "Wenn Sie das nicht waren, beenden Sie diese Sitzung sofort und informieren Sie einen Inhaber.",
    ],
    button: { label: "Konto prüfen", url: link },
    notes: [browserText(from)],
  }),
  matters,
  standingChanged: ({ link, merchantName, status, reason: why }) => {
    const [word, now] = {
      active: ["aktiv", "Sie können Zahlungen annehmen. Stornierte Bezahlvorgänge bleiben storniert."],
      suspended: [
        "gesperrt",
        "Sie können keine Zahlungen annehmen. Sie können weiterhin Daten ansehen, Zahlungen erstatten, Autorisierungen stornieren und Reklamationen beantworten.",
      ],
      closed: ["geschlossen", "Sie können keine Zahlungen annehmen und nur noch Daten ansehen."],
    }[status];
    const ended =
      "Offene Bezahlvorgänge wurden endgültig storniert. Zahlungslinks nehmen keine Zahlungen an, bis das Konto wieder aktiv ist.";
    return {
      subject: `${merchantName}: Konto ${word}`,
      paragraphs: [
        `Das Konto von ${merchantName} ist ${word}.`,
        ...(why === "" ? [] : [`Grund: ${why}`]),
        now ?? "",
        ...(status === "active" ? [] : [ended]),
      ],
      button: { label: "Konsole öffnen", url: link },
      notes: [
        `Sie erhalten diese E-Mail als Inhaber von ${merchantName}. Bei Fragen wenden Sie sich an den Betreiber.`,
      ],
    };
  },
};
