// The mails in German.
import { browserName } from "#platform/values/browser-name.ts";
import type { BrowserFacts, MailTexts, MatterFacts } from "./mail-facts.ts";

const browserText = ({ address, agent }: BrowserFacts) =>
  `Adresse: ${address || "unbekannt"}. Browser: ${browserName(agent) || "unbekannt"}.`;
const why = ({ merchantName }: MatterFacts) =>
  `Sie erhalten diese Mail, weil Sie für ${merchantName} arbeiten. Was Sie erhalten, wählen Sie in der Konsole unter Mitteilungen.`;
const subject = ({ isSandbox, merchantName }: MatterFacts, text: string) =>
  `${isSandbox ? "[Sandbox] " : ""}${merchantName}: ${text}`;
const world = ({ isSandbox }: MatterFacts) =>
  isSandbox ? ["Das geschah in der Sandbox: Echtes Geld wird dabei nicht bewegt."] : [];

export const germanMails: MailTexts = {
  invitation: ({ link, merchantName, role, inviterName }) => {
    const where = merchantName === "" ? "die Betreiberkonsole" : `die Konsole von ${merchantName}`;
    return {
      subject: `Einladung in ${where}`,
      paragraphs: [`${inviterName || "Ein Betreiber"} lädt Sie in ${where} ein, als ${role}.`],
      button: { label: "Einladung ansehen", url: link },
      notes: ["Der Link gilt einmal, sieben Tage lang. Wenn Sie nicht wissen, wer Sie einlädt, tun Sie nichts."],
    };
  },
  signInLink: ({ link, ...from }) => ({
    subject: "Ihr Link zum Anmelden",
    paragraphs: ["Jemand, wahrscheinlich Sie, hat um einen Link zum Anmelden in der Konsole gebeten."],
    button: { label: "Anmelden", url: link },
    notes: ["Der Link gilt einmal, 15 Minuten lang, in dem Browser, der darum bat.", browserText(from)],
  }),
  signInMethodAdded: ({ link, ...from }) => ({
    subject: "Ein neuer Weg zum Anmelden",
    paragraphs: [
      "Zu Ihrem Zugang zur Konsole kam ein Passkey oder eine Authenticator-App hinzu.",
      "Wenn Sie das nicht waren: Entfernen Sie ihn sofort, beenden Sie die anderen Sitzungen und sagen Sie es einem Inhaber.",
    ],
    button: { label: "Zugang ansehen", url: link },
    notes: [browserText(from)],
  }),
  newBrowser: ({ link, ...from }) => ({
    subject: "Anmeldung aus einem anderen Browser",
    paragraphs: [
      "Jemand hat sich als Sie in der Konsole angemeldet, aus einem Browser, den Sie dafür noch nicht benutzt haben.",
      "Wenn Sie das nicht waren: Beenden Sie diese Sitzung sofort und sagen Sie es einem Inhaber.",
    ],
    button: { label: "Zugang ansehen", url: link },
    notes: [browserText(from)],
  }),
  disputeOpened: (facts) => ({
    subject: subject(facts, "eine Zahlung ist bestritten"),
    paragraphs: [
      `Ein Käufer bestreitet eine Zahlung (${facts.object}). Der Betrag wird einbehalten, bis der Streit endet.`,
      ...(facts.date === "" ? [] : [`Ihre Belege sind fällig am ${facts.date}.`]),
      ...world(facts),
    ],
    button: { label: "Antworten", url: facts.link },
    notes: [why(facts)],
  }),
  disputeDue: (facts) => ({
    subject: subject(facts, "Belege zu einem Streit sind bald fällig"),
    paragraphs: [
      `Belege zum Streit ${facts.object} sind fällig am ${facts.date}. Ohne sie ist er verloren.`,
      ...world(facts),
    ],
    button: { label: "Antworten", url: facts.link },
    notes: [why(facts)],
  }),
  refundFailed: (facts) => ({
    subject: subject(facts, "eine Erstattung ist gescheitert"),
    paragraphs: [
      `Die Erstattung ${facts.object} ist gescheitert: Der Käufer hat das Geld nicht zurück.`,
      ...world(facts),
    ],
    button: { label: "Erstattung ansehen", url: facts.link },
    notes: [why(facts)],
  }),
  endpointFailing: (facts) => ({
    subject: subject(facts, "ein Webhook-Endpunkt nimmt keine Ereignisse an"),
    paragraphs: [
      `Ihr Endpunkt bei ${facts.object} hat seit über einer Stunde keine Ereignisse angenommen.`,
      "Jedes wird drei Tage lang versucht. Was bis dahin aufgegeben wurde, senden Sie mit einem Knopf neu, sobald er wieder geht.",
      ...world(facts),
    ],
    button: { label: "Ansehen, was er antwortet", url: facts.link },
    notes: [why(facts), "Sie bekommen höchstens eine solche E-Mail am Tag je Endpunkt."],
  }),
  keyCreated: (facts) => ({
    subject: subject(facts, "ein neuer API-Schlüssel"),
    paragraphs: [
      `Jemand hat den API-Schlüssel „${facts.object}“ angelegt. Wenn es keiner von Ihnen war, sperren Sie ihn sofort.`,
      ...world(facts),
    ],
    button: { label: "Schlüssel ansehen", url: facts.link },
    notes: [why(facts)],
  }),
  keyExpiring: (facts) => ({
    subject: subject(facts, "ein API-Schlüssel endet bald"),
    paragraphs: [
      `Der API-Schlüssel „${facts.object}“ endet am ${facts.date}. Legen Sie vorher einen anderen an.`,
      ...world(facts),
    ],
    button: { label: "Schlüssel ansehen", url: facts.link },
    notes: [why(facts)],
  }),
};
