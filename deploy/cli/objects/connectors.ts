// `tollbooth connectors …`: a merchant's processor accounts. Credentials come as CONNECTOR_<NAME> from the environment
// or a file, since other users of the machine can read command lines.
import { parseEnv } from "node:util";
import { ConfigError } from "#platform/process/config.ts";
import type { Connector } from "#proto/merchant/v1/merchant_pb.ts";
import type { AccountStatus } from "#proto/payments/v1/payments_pb.ts";
import { type Answer, type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import { environmentName, environmentOf, liveOption, readInput } from "../wire.ts";

const credentialsOption = {
  credentials: {
    value: "file",
    about: "with lines CONNECTOR_SECRET_KEY=… in place of the environment; -: standard input",
  },
} as const;

export const connectors: Commands = {
  list: {
    about: "lists a merchant's connectors, the primary one first",
    args: ["merchant"],
    options: liveOption,
    run: async (peers, input) => {
      return { rows: (await peers.connectors.listConnectors(ownerOf(input))).connectors.map((each) => rowOf(each)) };
    },
  },
  add: {
    about:
      "adds an account after a live call with CONNECTOR_SECRET_KEY, CONNECTOR_PUBLISHABLE_KEY, CONNECTOR_WEBHOOK_SECRET …",
    args: ["merchant", "connector"],
    options: { ...credentialsOption, primary: { about: "use it for new sessions" }, ...liveOption },
    run: async (peers, input) => {
      const order = {
        connector: input.arg("connector"),
        credentials: await readCredentials(input),
        makeDefault: input.has("primary"),
      };
      const added = await peers.accounts.addConnectorAccount({ ...ownerOf(input), ...order });
      const answer = answerOf(added.connector, added.account);
      return { ...answer, remark: `webhooks: <public address of the gateway>${added.webhookPath}` };
    },
  },
  check: {
    about: "tests the stored credentials with a live call; exit code 1 if the processor rejects them",
    args: ["merchant", "connector"],
    options: liveOption,
    run: async (peers, input) => {
      return answerOf(undefined, (await peers.accounts.checkConnectorAccount(namedBy(input))).account);
    },
  },
  rotate: {
    about: "replaces the credentials given as CONNECTOR_… after a live call, and keeps the others",
    args: ["merchant", "connector"],
    options: { ...credentialsOption, ...liveOption },
    run: async (peers, input) => {
      const request = { ...namedBy(input), credentials: await readCredentials(input) };
      const { connector, account } = await peers.accounts.rotateConnectorCredentials(request);
      return answerOf(connector, account);
    },
  },
  primary: {
    about: "makes a connector primary: new sessions use it",
    args: ["merchant", "connector"],
    options: liveOption,
    run: async (peers, input) => {
      return answerOf((await peers.connectors.updateConnector({ ...namedBy(input), makeDefault: true })).connector);
    },
  },
  deactivate: {
    about: "stops new payments at a connector; refunds and webhooks of its payments continue",
    args: ["merchant", "connector"],
    options: liveOption,
    run: async (peers, input) => answerOf((await peers.accounts.deactivateConnectorAccount(namedBy(input))).connector),
  },
};

function ownerOf(input: CommandInput) {
  return { merchantId: input.arg("merchant"), environment: environmentOf(input) };
}

function namedBy(input: CommandInput) {
  return { ...ownerOf(input), connectorId: input.arg("connector") };
}

async function readCredentials(input: CommandInput): Promise<Record<string, string>> {
  const prefix = "CONNECTOR_";
  const file = input.text("credentials");
  const pairs = Object.entries(file === "" ? process.env : await linesOf(file)).flatMap(([name, value]) =>
    name.startsWith(prefix) && value ? [[name.slice(prefix.length).toLowerCase(), value] as const] : [],
  );
  if (pairs.length === 0)
    throw new ConfigError("no credentials: set CONNECTOR_SECRET_KEY and further CONNECTOR_… variables");
  return Object.fromEntries(pairs);
}

async function linesOf(file: string): Promise<NodeJS.Dict<string>> {
  const text = await readInput(file).catch((error: Error) => {
    throw new UsageError(`--credentials: ${error.message}`);
  });
  return parseEnv(text);
}

/** @param account from the live call */
function answerOf(connector: Connector | undefined, account?: AccountStatus): Answer {
  const row = { ...(connector && rowOf(connector)), ...(account && statusRow(account)) };
  return { rows: connector || account ? [row] : [], isBad: account?.credentialsTaken === false };
}

function statusRow({
  externalAccountId: account,
  displayName,
  country,
  canCharge,
  credentialsTaken,
}: AccountStatus): Row {
  return { account, name: displayName, country, credentials_taken: credentialsTaken, can_charge: canCharge };
}

function rowOf(account: Connector): Row {
  const { id, connector, environment, isDefault, isActive, surface, externalAccountId } = account;
  const state = { primary: isDefault, active: isActive };
  return { id, connector, environment: environmentName(environment), ...state, surface, account: externalAccountId };
}
