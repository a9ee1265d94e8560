// Ports that outlive a stack, since checkout links, receipts and stored payments contain them: the next start on the
// same folder takes them again or reports which are in use. Other ports are chosen at each start.
import { join } from "node:path";
import { freePort, reservePort, tryListen } from "../free-port.ts";
import { StartError } from "../start-error.ts";
import { readObject, writePrivate } from "./private-file.ts";

export type KeptPorts = Readonly<Record<KeptName, number>>;

/** The user's choice; 0: any free port; undefined: the last start's, else the default. */
export type ChosenPorts = Readonly<Record<KeptName, number | undefined>>;

type KeptName = keyof typeof kept;

const gatewayDefault = 8080;
const portMax = 65_535;
/** In the order of the default ports, which follow the gateway's. */
const kept = {
  gateway: { setting: "PORT", leads: "checkout links" },
  simulator: { setting: "SIMULATOR_PORT", leads: "card forms and receipts" },
  shop: { setting: "SHOP_PORT", leads: "orders of the demo shop" },
  console: { setting: "CONSOLE_PORT", leads: "passkeys and invitations" },
  operators: { setting: "OPERATORS_PORT", leads: "operators' passkeys and invitations" },
  mailbox: { setting: "MAILBOX_PORT", leads: "the mailbox" },
} as const;
const names: readonly KeptName[] = ["gateway", "simulator", "shop", "console", "operators", "mailbox"];

/** @throws StartError with a line for each unavailable port */
export async function keptPorts(stateDir: string, chosen: ChosenPorts): Promise<KeptPorts> {
  const path = join(stateDir, "ports.json");
  const before = await readObject(path);
  const assigned = new Map<number, KeptName>();
  const problems: string[] = [];
  for (const name of names) {
    const known = before?.[name];
    const old = typeof known === "number" ? known : undefined;
    const isFirst = name === "gateway" && old === undefined && chosen.gateway === undefined;
    const port = chosen[name] || old || (isFirst ? gatewayDefault : undefined);
    if (port === undefined) continue;
    const problem = await problemOf(name, port, assigned, port === old);
    const mayMove = chosen[name] === 0 && problem !== undefined;
    if (problem !== undefined && !mayMove) problems.push(problem);
    if (problem === undefined) assigned.set(port, name);
  }
  if (problems.length > 0) throw new StartError(problems.join("\n"));
  for (const port of assigned.keys()) reservePort(port);
  const ports = await assignMissingPorts(assigned, chosen);
  await writePrivate(path, `${JSON.stringify(ports, null, 2)}\n`);
  return ports;
}

async function problemOf(
  name: KeptName,
  port: number,
  assigned: ReadonlyMap<number, KeptName>,
  isOld: boolean,
): Promise<string | undefined> {
  const { setting, leads } = kept[name];
  const other = assigned.get(port);
  if (other !== undefined)
    return `port ${port} is wanted by both ${kept[other].setting} and ${setting}: choose another`;
  const code = await tryListen(port, "127.0.0.1");
  if (code === undefined) return undefined;
  const reason =
    code === "EADDRINUSE"
      ? `is in use (lsof -nP -iTCP:${port} -sTCP:LISTEN names the program)`
      : `cannot be listened on (${code})`;
  const choice = isOld ? `stop that program, or choose another with ${setting}` : `choose another with ${setting}`;
  return `port ${port} ${reason}: ${choice}${isOld ? `; ${leads} made so far lead to ${port}` : ""}`;
}

/** Assigns the neighbours of a gateway whose port was chosen, else free ports. */
async function assignMissingPorts(assigned: Map<number, KeptName>, chosen: ChosenPorts): Promise<KeptPorts> {
  const portOf = (name: KeptName) => [...assigned].find(([, holder]) => holder === name)?.[0];
  const choose = async (name: KeptName) => {
    const had = portOf(name);
    if (had !== undefined) return had;
    const usual = (portOf("gateway") ?? portMax) + names.indexOf(name);
    const isUsual =
      chosen.gateway !== 0 && usual <= portMax && !assigned.has(usual) && !(await tryListen(usual, "127.0.0.1"));
    const port = isUsual ? usual : await freePort();
    assigned.set(port, name);
    reservePort(port);
    return port;
  };
  return {
    gateway: await choose("gateway"),
    simulator: await choose("simulator"),
    shop: await choose("shop"),
    console: await choose("console"),
    operators: await choose("operators"),
    mailbox: await choose("mailbox"),
  };
}
