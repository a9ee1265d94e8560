// The mailbox of a local stack: an SMTP server that stores every mail, and pages that show them. It forwards nothing.
import { once } from "node:events";
import { SMTPServer } from "smtp-server";
import { integerSetting, port, readConfig, text, withDefault } from "#platform/process/config.ts";
import type { Drain } from "#platform/process/host.ts";
import { runProcess } from "#platform/process/process.ts";
import { Mails } from "./mails.ts";
import { servePages } from "./pages.ts";

const settings = {
  PORT: port,
  SMTP_PORT: port,
  HOST: withDefault(text, "127.0.0.1"),
  MAIL_DIR: text,
  /** The oldest mails beyond this number are deleted. */
  MAILS_MAX: withDefault(integerSetting(1, 100_000), 1_000),
};

// Larger than any mail of ours.
const mailMaxBytes = 10 * 1024 * 1024;

await runProcess(
  "mailbox",
  () => readConfig(settings),
  async (config) => {
    const mails = await Mails.open(config.MAIL_DIR, config.MAILS_MAX);
    const smtp = await serveSmtp(config, mails);
    const pages = await servePages(config, mails);
    return {
      ready: async () => true,
      stop: async (_drain: Drain) => {
        await smtp.close();
        await pages.close();
      },
    };
  },
);

/** Receives mail from this machine, for any address. */
async function serveSmtp(
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
