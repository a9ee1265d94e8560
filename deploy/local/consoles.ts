// The consoles and the mailbox of a local stack: their addresses, their environment, and the invitations for the first
// owner and the first operator, who then set up their sign-in.
import { join } from "node:path";
import { connectPeer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { Door, PeopleService } from "#proto/merchant/v1/people_pb.ts";
import { processPrograms } from "../bundle/programs.ts";
import { freePort } from "./free-port.ts";
import { runChild } from "./process/child-process.ts";
import type { Supervisor } from "./process/supervisor.ts";
import { inheritedBy, nodeProgram } from "./processes.ts";
import type { WantedStack } from "./running-stack.ts";
import { consoleNames, type PeopleAddresses, type StackEnvironment, serviceUrls, urlOf } from "./services.ts";
import type { StackInfo } from "./stack-file.ts";
import type { KeptPorts } from "./state/kept-ports.ts";

const root = join(import.meta.dirname, "../..");
export const consoleScript = join(root, processPrograms.console);
export const mailboxScript = join(root, "deploy/local/mailbox/main.ts");

export interface ConsolePlan {
  readonly addresses: Required<Pick<StackInfo, "console" | "operators_console" | "mailbox">>;
  /** Addresses of their admin ports. */
  readonly admin: Readonly<Record<"console" | "operators-console", string>>;
  readonly environments: Readonly<Record<"console" | "operators-console" | "mailbox", Record<string, string>>>;
}

/** Passkeys need a host name: they are not available on an IP address. */
export async function choosePeopleAddresses({ console: merchants, operators }: KeptPorts): Promise<PeopleAddresses> {
  return {
    console: `http://localhost:${merchants}`,
    operators: `http://localhost:${operators}`,
    smtpPort: await freePort(),
  };
}

export async function planConsoles(kept: KeptPorts, around: StackEnvironment): Promise<ConsolePlan> {
  const { ports, people, rpcFiles, settings } = around;
  const services = { ...serviceUrls(ports), API_ORIGIN: urlOf(ports.gateway) };
  const adminPorts = { console: await freePort(), "operators-console": await freePort() };
  return {
    admin: { console: urlOf(adminPorts.console), "operators-console": urlOf(adminPorts["operators-console"]) },
    addresses: { console: people.console, operators_console: people.operators, mailbox: urlOf(kept.mailbox) },
    environments: {
      console: {
        ...services,
        PORT: String(kept.console),
        ADMIN_PORT: String(adminPorts.console),
        CONSOLE_DOOR: "merchants",
        CONSOLE_ORIGIN: people.console,
        RPC_TOKEN_FILE: rpcFiles.tokens.console,
      },
      "operators-console": {
        ...services,
        PORT: String(kept.operators),
        ADMIN_PORT: String(adminPorts["operators-console"]),
        CONSOLE_DOOR: "operators",
        CONSOLE_ORIGIN: people.operators,
        RPC_TOKEN_FILE: rpcFiles.operatorsConsole,
      },
      mailbox: {
        PORT: String(kept.mailbox),
        SMTP_PORT: String(people.smtpPort),
        MAIL_DIR: join(settings.stateDir, "mails"),
      },
    },
  };
}

export async function startConsoles(
  wanted: WantedStack,
  { environments }: ConsolePlan,
  supervisor: Supervisor,
): Promise<void> {
  const scripts = { console: consoleScript, "operators-console": consoleScript, mailbox: mailboxScript } as const;
  const names = [...(wanted.shape === "one" ? [] : consoleNames), "mailbox"] as const;
  const inherited = inheritedBy(wanted);
  const parts = await Promise.all(
    names.map(async (name) => {
      const env = { ...inherited, HOST: "127.0.0.1", ...environments[name] };
      return { name, start: () => runChild(nodeProgram(wanted, name, scripts[name], env)) };
    }),
  );
  await supervisor.start(...parts);
}

type Invitations = Pick<StackInfo, "console_invite" | "operators_invite">;

/** Invitation links for consoles without any person yet; each start creates new ones. */
export async function firstInvitations({
  rpc,
  rpc_token: token,
  merchant_id: merchantId,
}: StackInfo): Promise<Invitations> {
  const peer = connectPeer({ url: rpc.merchant, token });
  try {
    const people = peer.client(PeopleService);
    const inviteFirst = async (door: Door, email: string, to: string): Promise<string | undefined> => {
      try {
        return (await people.inviteMember({ door, merchantId: to, email, role: "owner" })).link;
      } catch (error) {
        // Refused because the console has people already.
        if (error instanceof Failure && error.reason === "INVALID_BODY") return undefined;
        throw error;
      }
    };
    const owner = await inviteFirst(Door.MERCHANTS, "owner@example.com", merchantId);
    const operator = await inviteFirst(Door.OPERATORS, "operator@example.com", "");
    return { ...(owner && { console_invite: owner }), ...(operator && { operators_invite: operator }) };
  } finally {
    peer.close();
  }
}
