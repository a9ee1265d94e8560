// The mails in English.
import { browserName } from "#platform/values/browser-name.ts";
import type { BrowserFacts, MailTexts, MatterFacts } from "./mail-content.ts";

const browserText = ({ address, agent }: BrowserFacts) =>
  `Address: ${address || "unknown"}. Browser: ${browserName(agent) || "unknown"}.`;
const reason = ({ merchantName }: MatterFacts) =>
  `You receive this mail because you work for ${merchantName}. You can choose your notifications in the console.`;
const subject = ({ isSandbox, merchantName }: MatterFacts, text: string) =>
  `${isSandbox ? "[Sandbox] " : ""}${merchantName}: ${text}`;
const sandboxNote = ({ isSandbox }: MatterFacts) =>
  isSandbox ? ["This happened in the sandbox. No real money is involved."] : [];

export const englishMails: MailTexts = {
  invitation: ({ link, merchantName, role, inviterName }) => {
    const where = merchantName === "" ? "the operators' console" : `the console of ${merchantName}`;
    return {
      subject: `Invitation to ${where}`,
      paragraphs: [`${inviterName || "An operator"} invites you to ${where} with the role ${role}.`],
      button: { label: "View invitation", url: link },
      notes: ["The link works once, within seven days. If you do not expect an invitation, ignore this mail."],
    };
  },
  signInLink: ({ link, ...from }) => ({
    subject: "Your sign-in link",
    paragraphs: ["Use this link to sign in to the console. If you did not request it, ignore this mail."],
    button: { label: "Sign in", url: link },
    notes: [
      "The link works once, within 15 minutes, and only in the browser in which you requested it.",
      browserText(from),
    ],
  }),
  signInMethodAdded: ({ link, ...from }) => ({
    subject: "New sign-in method",
    paragraphs: [
      "A passkey or an authenticator app was added to your console account.",
      "If this was not you, remove it now, end your other sessions and inform an owner.",
    ],
    button: { label: "Review your account", url: link },
    notes: [browserText(from)],
  }),
  newBrowser: ({ link, ...from }) => ({
    subject: "Sign-in from a new browser",
    paragraphs: [
      "Your console account was used in a browser that you have not used before.",
      "If this was not you, end that session now and inform an owner.",
    ],
    button: { label: "Review your account", url: link },
    notes: [browserText(from)],
  }),
  disputeOpened: (facts) => ({
    subject: subject(facts, "new dispute"),
    paragraphs: [
      `A buyer disputes the payment ${facts.object}. The amount is withheld until the dispute is closed.`,
      ...(facts.date === "" ? [] : [`Please submit your evidence by ${facts.date}.`]),
      ...sandboxNote(facts),
    ],
    button: { label: "Respond to the dispute", url: facts.link },
    notes: [reason(facts)],
  }),
  disputeDue: (facts) => ({
    subject: subject(facts, "dispute evidence due soon"),
    paragraphs: [
      `Evidence for the dispute ${facts.object} is due on ${facts.date}. Without evidence you lose the dispute.`,
      ...sandboxNote(facts),
    ],
    button: { label: "Respond to the dispute", url: facts.link },
    notes: [reason(facts)],
  }),
  refundFailed: (facts) => ({
    subject: subject(facts, "refund failed"),
    paragraphs: [`The refund ${facts.object} failed. The buyer has not received the money.`, ...sandboxNote(facts)],
    button: { label: "View refund", url: facts.link },
    notes: [reason(facts)],
  }),
  endpointFailing: (facts) => ({
    subject: subject(facts, "webhook endpoint failing"),
    paragraphs: [
      `Your endpoint at ${facts.object} has not accepted any events for more than an hour.`,
      "Each event is retried for three days. Once the endpoint works again, you can resend all failed events at once.",
      ...sandboxNote(facts),
    ],
    button: { label: "View responses", url: facts.link },
    notes: [reason(facts), "You receive at most one such mail per endpoint and day."],
  }),
  keyCreated: (facts) => ({
    subject: subject(facts, "new API key"),
    paragraphs: [
      `The API key “${facts.object}” was created. If your team did not create it, revoke it now.`,
      ...sandboxNote(facts),
    ],
    button: { label: "View API keys", url: facts.link },
    notes: [reason(facts)],
  }),
  keyExpiring: (facts) => ({
    subject: subject(facts, "API key expires soon"),
    paragraphs: [
      `The API key “${facts.object}” expires on ${facts.date}. Please replace it before then.`,
      ...sandboxNote(facts),
    ],
    button: { label: "View API keys", url: facts.link },
    notes: [reason(facts)],
  }),
  standingChanged: ({ link, merchantName, status, reason: why }) => {
    const [word, now] = {
      active: ["active", "You can take payments. Sessions and payment links that were canceled stay canceled."],
      suspended: [
        "suspended",
        "You cannot take payments. You can still view data, refund payments, cancel authorizations and respond to disputes.",
      ],
      closed: ["closed", "You cannot take payments, and you can only view data."],
    }[status];
    const ended = "Open checkout sessions and payment links have been canceled and will not come back.";
    return {
      subject: `${merchantName}: account ${word}`,
      paragraphs: [
        `The account of ${merchantName} is ${word}.`,
        ...(why === "" ? [] : [`Reason: ${why}`]),
        now ?? "",
        ...(status === "active" ? [] : [ended]),
      ],
      button: { label: "Open the console", url: link },
      notes: [
        `You receive this mail because you are an owner of ${merchantName}. If you have questions, contact the operator.`,
      ],
    };
  },
};
