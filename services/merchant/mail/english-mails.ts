// The mails in English.
import { browserName } from "../rules/browser-name.ts";
import type { BrowserFacts, MailContent, MailTexts, MatterFacts } from "./mail-content.ts";

const browserText = ({ address, agent }: BrowserFacts) =>
  `Address: ${address || "unknown"}. Browser: ${browserName(agent) || "unknown"}.`;

/** A notification for the people of a shop. */
function about(facts: MatterFacts, subject: string, label: string, paragraphs: readonly string[]): MailContent {
  const { isSandbox, merchantName, link } = facts;
  return {
    subject: `${isSandbox ? "[Sandbox] " : ""}${merchantName}: ${subject}`,
    paragraphs: [...paragraphs, ...(isSandbox ? ["This happened in the sandbox. No real money is involved."] : [])],
    button: { label, url: link },
    notes: [
      `You receive this mail because you work for ${merchantName}. You can choose your notifications in the console.`,
    ],
  };
}

const paid = (facts: MatterFacts) =>
  about(facts, `you were paid ${facts.object}`, "View payment", [`A customer paid ${facts.object}.`]);

const matters: MailTexts["matters"] = {
  link_paid: paid,
  checkout_paid: paid,
  paid_daily: (facts) =>
    about(facts, `you were paid on ${facts.date}`, "View payments", [`Paid on ${facts.date}: ${facts.object}.`]),
  dispute_opened: (facts) =>
    about(facts, "new dispute", "Respond to the dispute", [
      `A buyer disputes the payment ${facts.object}. The amount is withheld until the dispute is closed.`,
      ...(facts.date === "" ? [] : [`Please submit your evidence by ${facts.date}.`]),
    ]),
  dispute_due: (facts) =>
    about(facts, "dispute evidence due soon", "Respond to the dispute", [
      `Evidence for the dispute ${facts.object} is due on ${facts.date}. Without evidence you lose the dispute.`,
    ]),
  refund_failed: (facts) =>
    about(facts, "refund failed", "View refund", [
      `The refund ${facts.object} failed. The buyer has not received the money.`,
    ]),
  endpoint_failing: (facts) => {
    const content = about(facts, "webhook endpoint failing", "View responses", [
      `Your endpoint at ${facts.object} has not accepted any events for more than an hour.`,
      "Each event is retried for three days. Once the endpoint works again, you can resend all failed events at once.",
    ]);
    return { ...content, notes: [...content.notes, "You receive at most one such mail per endpoint and day."] };
  },
  key_created: (facts) =>
    about(facts, "new API key", "View API keys", [
      `The API key “${facts.object}” was created. If your team did not create it, revoke it now.`,
    ]),
  key_expiring: (facts) =>
    about(facts, "API key expires soon", "View API keys", [
      `The API key “${facts.object}” expires on ${facts.date}. Please replace it before then.`,
    ]),
};

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
  matters,
  standingChanged: ({ link, merchantName, status, reason: why }) => {
    const [word, now] = {
      active: ["active", "You can take payments. Checkout sessions that were canceled stay canceled."],
      suspended: [
        "suspended",
        "You cannot take payments. You can still view data, refund payments, cancel authorizations and respond to disputes.",
      ],
      closed: ["closed", "You cannot take payments, and you can only view data."],
    }[status];
    const ended =
      "Open checkout sessions have been canceled and will not come back. Payment links take no payments until the account is active.";
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
