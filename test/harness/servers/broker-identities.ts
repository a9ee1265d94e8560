// The configuration of a broker that a drill starts itself: the accounts of a stack's identities, as in the manifests,
// and one extra login for the drill.
import { brokerFiles, brokerLogins } from "../../../deploy/local/state/broker-files.ts";

const login = { user: "drill", password: "drill" };
// As a stack names its streams.
const namespace = "tollbooth";

/** @param stateDir the stack's; its files are made where they are missing. */
export async function accountsOf(stateDir: string): Promise<string> {
  const accounts = await brokerLogins(await brokerFiles(stateDir), namespace);
  const streams = "jetstream: enabled";
  if (!accounts.includes(streams)) throw new Error("no account has the streams");
  return accounts.replace(streams, `${streams}, users: [${JSON.stringify(login)}]`);
}

/** The login with all rights on streams. */
export function drillServer(port: number) {
  return { servers: `127.0.0.1:${port}`, user: login.user, pass: login.password, reconnect: false };
}
