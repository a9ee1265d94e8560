// Sends mails to one SMTP server, with TLS unless the server is on this machine. It never fetches referenced content.
import { createTransport } from "nodemailer";
import type { RenderedMail } from "./mail-content.ts";

const connectMsMax = 10_000;
const silentMsMax = 20_000;
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

export interface MailServer {
  send(id: string, mail: RenderedMail): Promise<void>;
}

/** The server permanently refused this mail. */
export class MailRefused extends Error {
  override name = "MailRefused";
}

/** @param url smtp:// (STARTTLS, except on this machine) or smtps://, with an optional login */
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

/** A 5xx about the recipient or content. A 5xx about the login does not concern the mail. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error) || !("responseCode" in error)) return false;
  const isOfMail = error.code === "EENVELOPE" || error.code === "EMESSAGE";
  return isOfMail && typeof error.responseCode === "number" && error.responseCode >= 500;
}
