// `npm run connector -- list|add|check|rotate|deactivate`: a merchant's accounts at card processors, through payments' typed RPCs.
// Credentials come from the environment as CONNECTOR_<NAME>, never from the command line, which other users can read. Where: the
// local stack's stack.json, or PAYMENTS_URL, MERCHANT_URL and RPC_TOKEN_FILE (the operator's).
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ConfigError, optional, readConfig, text, url, withDefault } from "#platform/config.ts";
import { Failure } from "#platform/failure.ts";
import { connectPeer } from "#platform/rpc-client.ts";
import { type Connector, ConnectorService, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type AccountStatus, ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";

const usage = `npm run connector -- list
npm run connector -- add <connector> [--default]      CONNECTOR_SECRET_KEY, CONNECTOR_PUBLISHABLE_KEY, CONNECTOR_WEBHOOK_SECRET …
npm run connector -- check|rotate|deactivate <mco_…>  rotate: those of CONNECTOR_… that are to be replaced
with [--merchant mer_…] [--environment sandbox|live]`;

const settings = {
  STATE_DIR: withDefault(text, ".local"),
  PAYMENTS_URL: optional(url("http", "https")),
  MERCHANT_URL: optional(url("http", "https")),
  RPC_TOKEN_FILE: optional(text),
};

interface Place {
  readonly payments: string;
  readonly merchant: string;
  readonly token: string;
  /** The local stack's own merchant; empty elsewhere. */
  readonly merchantId: string;
}

try {
  await run();
} catch (error) {
  console.error(reasonOf(error));
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      default: { type: "boolean", default: false },
      merchant: { type: "string" },
      environment: { type: "string", default: "sandbox" },
    },
  });
  const [verb = "", name = ""] = positionals;
  const environment = { sandbox: Environment.SANDBOX, live: Environment.LIVE }[values.environment];
  const place = await placeOf();
  const merchantId = values.merchant ?? place.merchantId;
  if (environment === undefined || merchantId === "" || (verb !== "list" && name === "")) throw new ConfigError(usage);
  const owner = { merchantId, environment };
  const peers = {
    payments: connectPeer({ url: place.payments, token: place.token }),
    merchant: connectPeer({ url: place.merchant, token: place.token }),
  };
  const accounts = peers.payments.client(ConnectorAccountService);
  const named = { ...owner, connectorId: name };
  try {
    switch (verb) {
      case "list": {
        const { connectors } = await peers.merchant.client(ConnectorService).listConnectors(owner);
        for (const connector of connectors) show(connector);
        return;
      }
      case "add": {
        const order = { ...owner, connector: name, credentials: credentials(), makeDefault: values.default };
        const added = await accounts.addConnectorAccount(order);
        show(added.connector, added.account);
        console.log(`webhooks: <public address of the gateway>${added.webhookPath}`);
        return;
      }
      case "check":
        return show(undefined, (await accounts.checkConnectorAccount(named)).account);
      case "rotate": {
        const rotated = await accounts.rotateConnectorCredentials({ ...named, credentials: credentials() });
        return show(rotated.connector, rotated.account);
      }
      case "deactivate":
        return show((await accounts.deactivateConnectorAccount(named)).connector);
      default:
        throw new ConfigError(usage);
    }
  } finally {
    for (const peer of Object.values(peers)) peer.close();
  }
}

async function placeOf(): Promise<Place> {
  const { STATE_DIR, PAYMENTS_URL, MERCHANT_URL, RPC_TOKEN_FILE } = readConfig(settings);
  if (PAYMENTS_URL && MERCHANT_URL && RPC_TOKEN_FILE) {
    const token = (await readFile(RPC_TOKEN_FILE, "utf8")).trim();
    return { payments: PAYMENTS_URL, merchant: MERCHANT_URL, token, merchantId: "" };
  }
  const path = join(STATE_DIR, "stack.json");
  const stack = await readFile(path, "utf8").catch(() => {
    throw new ConfigError(
      `${path} is not there: start the stack, or set PAYMENTS_URL, MERCHANT_URL and RPC_TOKEN_FILE`,
    );
  });
  const { rpc, rpc_token: token, merchant_id: merchantId } = JSON.parse(stack);
  return { payments: String(rpc.payments), merchant: String(rpc.merchant), token, merchantId };
}

function credentials(): Record<string, string> {
  const prefix = "CONNECTOR_";
  const given = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith(prefix) && value ? [[name.slice(prefix.length).toLowerCase(), value] as const] : [],
  );
  if (given.length === 0) throw new ConfigError("no credentials: set CONNECTOR_SECRET_KEY and the others");
  return Object.fromEntries(given);
}

function show(connector: Connector | undefined, account?: AccountStatus): void {
  if (connector) {
    const { id, isDefault, isActive, surface, externalAccountId } = connector;
    const state = `${isActive ? "active" : "inactive"}${isDefault ? ", default" : ""}`;
    console.log(`${id} ${connector.connector} ${externalAccountId} ${surface} (${state})`);
  }
  if (!account) return;
  const { externalAccountId, displayName, country, canCharge } = account;
  if (!account.credentialsTaken) console.log("the processor no longer takes the stored credentials");
  else
    console.log(
      `at the processor: ${externalAccountId} "${displayName}" ${country}, ${canCharge ? "can" : "cannot yet"} charge`,
    );
}

/** What to do about it; a credential's value is never in a message. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Failure)) return error instanceof Error ? error.message : String(error);
  const fields = error.violations.map(({ field, problem }) => `${field} ${problem}`);
  const said: Readonly<Record<string, string>> = {
    CONNECTOR_ERROR: "the processor gave no answer; try again",
    CONNECTOR_NOT_ELIGIBLE: "another merchant has this account, or the processor does not let it charge yet",
    NOT_FOUND: "no such merchant, connector or account",
  };
  return fields.length > 0 ? fields.join("\n") : (said[error.reason] ?? error.reason);
}
