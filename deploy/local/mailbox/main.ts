// The mailbox of a local stack: an SMTP server that stores every mail, and pages that show them. It forwards nothing.
import { integer, port, readConfig, text, withDefault } from "#platform/process/config.ts";
import type { Drain } from "#platform/process/host.ts";
import { runProcess } from "#platform/process/process.ts";
import { Mails } from "./mails.ts";
import { servePages } from "./pages.ts";
import { serveSmtp } from "./smtp.ts";

const settings = {
  PORT: port,
  SMTP_PORT: port,
  HOST: withDefault(text, "127.0.0.1"),
  MAIL_DIR: text,
  /** The oldest mails beyond this number are deleted. */
  MAILS_MAX: withDefault(integer(1, 100_000), 1_000),
};

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
