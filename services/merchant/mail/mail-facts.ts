// What mails are about: the facts that each one's text is made of, and the texts that every language has.
import type { MailContent } from "./mail-content.ts";

export interface InvitationFacts {
  readonly link: string;
  /** Empty: the installation. */
  readonly merchantName: string;
  readonly role: string;
  /** Empty: an operator. */
  readonly inviterName: string;
}

/** From where something was done. */
export interface BrowserFacts {
  readonly address: string;
  /** As the browser says it: no text for a mail (browser-name.ts). */
  readonly agent: string;
}

/** What a merchant's people are told about. */
export interface MatterFacts {
  readonly link: string;
  readonly merchantName: string;
  readonly isSandbox: boolean;
  /** The object's id, or its name. */
  readonly object: string;
  /** When it is due or over, as `2026-11-25`; empty: nobody knows. */
  readonly date: string;
}

export interface MailTexts {
  invitation(facts: InvitationFacts): MailContent;
  signInLink(facts: { readonly link: string } & BrowserFacts): MailContent;
  signInMethodAdded(facts: { readonly link: string } & BrowserFacts): MailContent;
  newBrowser(facts: { readonly link: string } & BrowserFacts): MailContent;
  disputeOpened(facts: MatterFacts): MailContent;
  disputeDue(facts: MatterFacts): MailContent;
  refundFailed(facts: MatterFacts): MailContent;
  endpointFailing(facts: MatterFacts): MailContent;
  keyCreated(facts: MatterFacts): MailContent;
  keyExpiring(facts: MatterFacts): MailContent;
}
