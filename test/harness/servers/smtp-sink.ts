// A real SMTP server whose mailbox a test reads, and which rejects mails on request.
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import { eventually } from "../eventually.ts";

export interface SmtpSink {
  readonly url: string;
  /** In the order of their arrival. */
  readonly mails: readonly ParsedMail[];
  /** The first mail to the address whose subject has the text, waited for. */
  mailTo(address: string, subject: string): Promise<ParsedMail>;
  /** How many there are to the address by now. */
  countTo(address: string): number;
  /** Answers mails to this address so from now on; undefined: takes them. */
  refuse(address: string, code: number | undefined): void;
  /** Answers nothing to mails to this address. @returns takes them after all */
  hold(address: string): () => void;
  stop(): Promise<void>;
}

/** @param port 0: a free one */
export async function startSmtpSink(port = 0): Promise<SmtpSink> {
  const mails: ParsedMail[] = [];
  const refused = new Map<string, number>();
  const held = new Map<string, Promise<void>>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    async onRcptTo({ address }, _session, done) {
      await held.get(address);
      const code = refused.get(address);
      done(code === undefined ? null : Object.assign(new Error("refused"), { responseCode: code }));
    },
    onData(stream, _session, done) {
      simpleParser(stream).then(
        (mail) => {
          mails.push(mail);
          done();
        },
        (error) => done(error),
      );
    },
  });
  const address = await new Promise<AddressInfo>((resolve, reject) => {
    server.on("error", reject);
    const listener = server.listen(port, "127.0.0.1", () => {
      const at = listener.address();
      if (at && typeof at === "object") resolve(at);
    });
  });
  const to = (mail: ParsedMail) => [mail.to ?? []].flat().flatMap(({ value }) => value.map((one) => one.address));
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    mails,
    mailTo: (who, subject) =>
      eventually(`a mail to ${who}`, () => mails.find((m) => to(m).includes(who) && m.subject?.includes(subject))),
    countTo: (who) => mails.filter((mail) => to(mail).includes(who)).length,
    refuse(who, code) {
      if (code === undefined) refused.delete(who);
      else refused.set(who, code);
    },
    hold(who) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(who, promise);
      return resolve;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
