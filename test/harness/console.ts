// The consoles for browser tests: a stack with both and the mailbox, people who are invited and set up a passkey in a
// browser with a virtual authenticator, and the mails that came.
import { connectPeer } from "#platform/rpc/client.ts";
import { Door, PeopleService } from "#proto/merchant/v1/people_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import type { BrowserSuite, Visit } from "./browser.ts";
import { eventually } from "./eventually.ts";
import { freshMerchant } from "./merchant.ts";
import { sharedStack, startTestStack, type TestStackOptions } from "./stack.ts";

/** A stack whose consoles are open. */
export async function startConsoleStack(options: TestStackOptions = {}): Promise<RunningStack> {
  const running = await startTestStack(options);
  await running.openConsoles();
  return running;
}

/**
 * The consoles of the run's stack, as a merchant of the file's own sees them: for tests that leave its parts alone.
 * People are the whole stack's, so each file has addresses of its own. A file run alone starts its own stack.
 */
export async function sharedConsoles(): Promise<StackInfo> {
  const shared = process.env.TEST_STACK_FILE ? await sharedStack() : await ownConsoles();
  const { id, apiKey } = await freshMerchant(shared);
  return { ...shared, merchant_id: id, api_key: apiKey };
}

async function ownConsoles(): Promise<StackInfo> {
  const own = await startConsoleStack({ keepsParentAlive: false });
  process.once("beforeExit", () => void own.stop());
  return own.stack;
}

/** A new member and their role. */
export interface Joining {
  readonly email: string;
  readonly name?: string;
  /** Default: owner. */
  readonly role?: string;
  /** `mer_…`; absent: the stack's own. Empty: an operator. */
  readonly merchantId?: string;
  readonly refundLimit?: {
    readonly amount: bigint;
    readonly currency: string;
    readonly others?: Record<string, bigint>;
  };
}

/** An invitation's link, as an operator gets it by command. */
export async function invitePerson(stack: StackInfo, joining: Joining): Promise<string> {
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  try {
    const merchantId = joining.merchantId ?? stack.merchant_id;
    const { link } = await peer.client(PeopleService).inviteMember({
      door: merchantId === "" ? Door.OPERATORS : Door.MERCHANTS,
      merchantId,
      email: joining.email,
      role: joining.role ?? "owner",
      ...(joining.refundLimit && { refundLimit: joining.refundLimit }),
    });
    return link;
  } finally {
    peer.close();
  }
}

/** Gives the visit's page an authenticator with a platform passkey, as a laptop has one. */
export async function addAuthenticator({ context, page }: Pick<Visit, "context" | "page">): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Signs in a new member with a new passkey, and opens the start page. */
export async function signInNew({ page, context }: Visit, stack: StackInfo, joining: Joining): Promise<void> {
  await addAuthenticator({ page, context });
  await page.goto(await invitePerson(stack, joining));
  await page.getByLabel("Your name").fill(joining.name ?? "Robin Example");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  await page.waitForURL((url) => url.pathname.endsWith("/home") || url.pathname === "/overview");
}

/** A mail as the mailbox has it. */
export interface ReceivedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The newest mail to the address that fits; waits until it is there. */
export async function mailTo(stack: StackInfo, address: string, fits: (mail: ReceivedMail) => boolean = () => true) {
  return await eventually(`a mail to ${address}`, async () => {
    const answer = await fetch(`${stack.mailbox}/mails.json`);
    // As our own mailbox writes them.
    const mails = (await answer.json()) as readonly ReceivedMail[];
    return mails.find((mail) => mail.to.includes(address) && fits(mail));
  });
}

/** A new member's visit, which ends with the test file. */
export async function openAs(test: BrowserSuite, stack: StackInfo, joining: Joining): Promise<Visit> {
  const visit = await test.open({ viewport: { width: 1280, height: 800 } });
  await signInNew(visit, stack, joining);
  return visit;
}
