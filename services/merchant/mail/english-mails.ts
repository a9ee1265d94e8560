// The mails in English.
import { browserName } from "#platform/values/browser-name.ts";
import type { BrowserFacts, MailTexts, MatterFacts } from "./mail-facts.ts";

const browserText = ({ address, agent }: BrowserFacts) =>
  `Address: ${address || "unknown"}. Browser: ${browserName(agent) || "unknown"}.`;
const why = ({ merchantName }: MatterFacts) =>
  `You get this mail because you work for ${merchantName}. Choose what you get under Notifications in the console.`;
const subject = ({ isSandbox, merchantName }: MatterFacts, text: string) =>
  `${isSandbox ? "[Sandbox] " : ""}${merchantName}: ${text}`;
const world = ({ isSandbox }: MatterFacts) =>
  isSandbox ? ["This happened in the sandbox: no real money is moved."] : [];

export const englishMails: MailTexts = {
  invitation: ({ link, merchantName, role, inviterName }) => {
    const where = merchantName === "" ? "the operators' console" : `the console of ${merchantName}`;
    return {
      subject: `Invitation to ${where}`,
      paragraphs: [`${inviterName || "An operator"} invites you to ${where}, as ${role}.`],
      button: { label: "Look at the invitation", url: link },
      notes: ["The link works once, for seven days. If you do not know who invites you, do nothing."],
    };
  },
  signInLink: ({ link, ...from }) => ({
    subject: "Your link to sign in",
    paragraphs: ["Somebody, most likely you, asked for a link to sign in to the console."],
    button: { label: "Sign in", url: link },
    notes: ["The link works once, for 15 minutes, in the browser that asked for it.", browserText(from)],
  }),
  signInMethodAdded: ({ link, ...from }) => ({
    subject: "A new way to sign in was added",
    paragraphs: [
      "A passkey or an authenticator app was added to your access to the console.",
      "If that was not you, remove it at once, end the other sessions, and tell an owner.",
    ],
    button: { label: "Look at your access", url: link },
    notes: [browserText(from)],
  }),
  newBrowser: ({ link, ...from }) => ({
    subject: "Sign-in from another browser",
    paragraphs: [
      "Somebody signed in to the console as you, from a browser that you have not used for it before.",
      "If that was not you, end that session at once and tell an owner.",
    ],
    button: { label: "Look at your access", url: link },
    notes: [browserText(from)],
  }),
  disputeOpened: (facts) => ({
    subject: subject(facts, "a payment is disputed"),
    paragraphs: [
      `A buyer disputes a payment (${facts.object}). The amount is held until the dispute ends.`,
      ...(facts.date === "" ? [] : [`Your evidence is due on ${facts.date}.`]),
      ...world(facts),
    ],
    button: { label: "Answer the dispute", url: facts.link },
    notes: [why(facts)],
  }),
  disputeDue: (facts) => ({
    subject: subject(facts, "evidence for a dispute is due soon"),
    paragraphs: [
      `Evidence for the dispute ${facts.object} is due on ${facts.date}. Without it the dispute is lost.`,
      ...world(facts),
    ],
    button: { label: "Answer the dispute", url: facts.link },
    notes: [why(facts)],
  }),
  refundFailed: (facts) => ({
    subject: subject(facts, "a refund failed"),
    paragraphs: [`The refund ${facts.object} failed: the buyer has not got the money back.`, ...world(facts)],
    button: { label: "Look at the refund", url: facts.link },
    notes: [why(facts)],
  }),
  endpointFailing: (facts) => ({
    subject: subject(facts, "a webhook endpoint takes no events"),
    paragraphs: [
      `Your endpoint at ${facts.object} has not taken events for more than an hour.`,
      "Each one is tried for three days. What was given up by then you send again with one button, when it works.",
      ...world(facts),
    ],
    button: { label: "See what it answers", url: facts.link },
    notes: [why(facts), "You get at most one such mail a day for an endpoint."],
  }),
  keyCreated: (facts) => ({
    subject: subject(facts, "a new API key"),
    paragraphs: [
      `Somebody made the API key “${facts.object}”. If nobody of you did, revoke it at once.`,
      ...world(facts),
    ],
    button: { label: "Look at the keys", url: facts.link },
    notes: [why(facts)],
  }),
  keyExpiring: (facts) => ({
    subject: subject(facts, "an API key ends soon"),
    paragraphs: [
      `The API key “${facts.object}” stops working on ${facts.date}. Make another one before that.`,
      ...world(facts),
    ],
    button: { label: "Look at the keys", url: facts.link },
    notes: [why(facts)],
  }),
};
