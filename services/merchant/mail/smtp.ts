// Sends mails to one SMTP server. On the way there they are encrypted, but on this machine; whatever they refer to is
// never fetched.
import { createTransport } from "nodemailer";
import type { DrawnMail } from "./mail-content.ts";

const connectMsMax = 10_000;
const silentMsMax = 20_000;
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

export interface MailServer {
  send(id: string, mail: DrawnMail): Promise<void>;
}

/** The server's own word that this mail will never be taken; anything else may pass. */
export class MailRefused extends Error {
  override name = "MailRefused";
}

/** @param url smtp:// (STARTTLS, but on this machine) or smtps://, with a login if one is needed */
export function mailServer(url: string, from: string): MailServer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === "smtps:";
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || (isSecure ? 465 : 587)),
    secure: isSecure,
    ...(loopback.has(hostname) ? { ignoreTLS: !isSecure } : { requireTLS: true }),
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: connectMsMax,
    greetingTimeout: connectMsMax,
    socketTimeout: silentMsMax,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const address = /<([^>]+)>/.exec(from)?.[1] ?? from;
  const domain = address.slice(address.lastIndexOf("@") + 1);
  return {
    send: async (id, { to, subject, text, html, unsubscribeUrl, senderName, replyTo }) => {
      const headers = unsubscribeUrl && {
        "List-Unsubscribe": `<${unsubscribeUrl}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      };
      const sender = senderName === undefined ? from : { name: senderName, address };
      const message = {
        from: sender,
        to,
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        ...(replyTo && { replyTo }),
      };
      try {
        await transport.sendMail({ ...message, headers: { ...headers, "Auto-Submitted": "auto-generated" } });
      } catch (error) {
        throw isRefusal(error) ? new MailRefused("the server refused the mail", { cause: error }) : error;
      }
    },
  };
}

/** A 5xx about this mail: its recipient or its content. One about the login says nothing of the mail. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error) || !("responseCode" in error)) return false;
  const isOfMail = error.code === "EENVELOPE" || error.code === "EMESSAGE";
  return isOfMail && typeof error.responseCode === "number" && error.responseCode >= 500;
}
