// The facts that each mail's text needs, and the texts that every language must provide.
import type { MailContent } from "./mail-content.ts";

export interface InvitationFacts {
  readonly link: string;
  /** Empty for the installation. */
  readonly merchantName: string;
  readonly role: string;
  /** Empty for an operator. */
  readonly inviterName: string;
}

export interface BrowserFacts {
  readonly address: string;
  /** The raw user agent, which must not appear in a mail (browser-name.ts). */
  readonly agent: string;
}

export interface MatterFacts {
  readonly link: string;
  readonly merchantName: string;
  readonly isSandbox: boolean;
  /** The object's id, or its name. */
  readonly object: string;
  /** The due or expiry date as `2026-11-25`; may be empty. */
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
