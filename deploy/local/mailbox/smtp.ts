// Receives mail over SMTP from this machine, for any address.
import { once } from "node:events";
import { SMTPServer } from "smtp-server";
import type { Mails } from "./mails.ts";

// Larger than any mail of ours.
const mailMaxBytes = 10 * 1024 * 1024;

export async function serveSmtp(
  { HOST, SMTP_PORT }: { readonly HOST: string; readonly SMTP_PORT: number },
  mails: Mails,
): Promise<{ close(): Promise<void> }> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    size: mailMaxBytes,
    logger: false,
    onData(stream, _session, done) {
      const pieces: Buffer[] = [];
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("error", done);
      stream.on("end", () => {
        if (stream.sizeExceeded) return done(new Error("the mail is too large"));
        mails.keep(Buffer.concat(pieces)).then(() => done(), done);
      });
    },
  });
  // A client that disconnects early needs no handling.
  server.on("error", () => {});
  const listening = server.listen(SMTP_PORT, HOST);
  await once(listening, "listening");
  return { close: () => new Promise((resolve) => server.close(() => resolve())) };
}
