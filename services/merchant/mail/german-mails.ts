// The mails in German.
import { browserName } from "#platform/values/browser-name.ts";
import type { BrowserFacts, MailTexts, MatterFacts } from "./mail-content.ts";

const browserText = ({ address, agent }: BrowserFacts) =>
  `Adresse: ${address || "unbekannt"}. Browser: ${browserName(agent) || "unbekannt"}.`;
const reason = ({ merchantName }: MatterFacts) =>
  `Sie erhalten diese E-Mail, weil Sie für ${merchantName} arbeiten. Ihre Mitteilungen wählen Sie in der Konsole aus.`;
const subject = ({ isSandbox, merchantName }: MatterFacts, text: string) =>
  `${isSandbox ? "[Sandbox] " : ""}${merchantName}: ${text}`;
const sandboxNote = ({ isSandbox }: MatterFacts) =>
  isSandbox ? ["Dies geschah in der Sandbox. Es fließt kein echtes Geld."] : [];

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
  disputeOpened: (facts) => ({
    subject: subject(facts, "neuer Zahlungsstreit"),
    paragraphs: [
      `Ein Käufer bestreitet die Zahlung ${facts.object}. Der Betrag wird einbehalten, bis der Streit abgeschlossen ist.`,
      ...(facts.date === "" ? [] : [`Bitte reichen Sie Ihre Belege bis zum ${facts.date} ein.`]),
      ...sandboxNote(facts),
    ],
    button: { label: "Stellung nehmen", url: facts.link },
    notes: [reason(facts)],
  }),
  disputeDue: (facts) => ({
    subject: subject(facts, "Belege zu einem Zahlungsstreit bald fällig"),
    paragraphs: [
      `Die Belege zum Zahlungsstreit ${facts.object} sind am ${facts.date} fällig. Ohne Belege verlieren Sie ihn.`,
      ...sandboxNote(facts),
    ],
    button: { label: "Stellung nehmen", url: facts.link },
    notes: [reason(facts)],
  }),
  refundFailed: (facts) => ({
    subject: subject(facts, "Erstattung fehlgeschlagen"),
    paragraphs: [
      `Die Erstattung ${facts.object} ist fehlgeschlagen. Der Käufer hat das Geld nicht erhalten.`,
      ...sandboxNote(facts),
    ],
    button: { label: "Erstattung ansehen", url: facts.link },
    notes: [reason(facts)],
  }),
  endpointFailing: (facts) => ({
    subject: subject(facts, "Webhook-Endpunkt nicht erreichbar"),
    paragraphs: [
      `Ihr Endpunkt bei ${facts.object} hat seit über einer Stunde keine Ereignisse angenommen.`,
      "Jedes Ereignis wird drei Tage lang erneut gesendet. Sobald der Endpunkt wieder funktioniert, können Sie alle fehlgeschlagenen Ereignisse auf einmal erneut senden.",
      ...sandboxNote(facts),
    ],
    button: { label: "Antworten ansehen", url: facts.link },
    notes: [reason(facts), "Sie erhalten höchstens eine solche E-Mail pro Endpunkt und Tag."],
  }),
  keyCreated: (facts) => ({
    subject: subject(facts, "neuer API-Schlüssel"),
    paragraphs: [
      `Der API-Schlüssel „${facts.object}“ wurde angelegt. Wenn das niemand aus Ihrem Team war, sperren Sie ihn sofort.`,
      ...sandboxNote(facts),
    ],
    button: { label: "API-Schlüssel ansehen", url: facts.link },
    notes: [reason(facts)],
  }),
  keyExpiring: (facts) => ({
    subject: subject(facts, "API-Schlüssel läuft bald ab"),
    paragraphs: [
      `Der API-Schlüssel „${facts.object}“ läuft am ${facts.date} ab. Bitte ersetzen Sie ihn vorher.`,
      ...sandboxNote(facts),
    ],
    button: { label: "API-Schlüssel ansehen", url: facts.link },
    notes: [reason(facts)],
  }),
  standingChanged: ({ link, merchantName, status, reason: why }) => {
    const [word, now] = {
      active: ["aktiv", "Sie können Zahlungen annehmen. Beendete Sitzungen und Zahlungslinks bleiben beendet."],
      suspended: [
        "gesperrt",
        "Sie können keine Zahlungen annehmen. Sie können weiterhin Daten ansehen, Zahlungen erstatten, Autorisierungen stornieren und Reklamationen beantworten.",
      ],
      closed: ["geschlossen", "Sie können keine Zahlungen annehmen und nur noch Daten ansehen."],
    }[status];
    const ended = "Offene Checkout-Sitzungen und Zahlungslinks wurden endgültig beendet.";
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
