// Every misbehaving receiver of the webhook benchmark, in a process of its own: what their floods cost is theirs.
import { startHostileServers } from "../flows/webhook/hostile-servers.ts";

const { TLS_CERT: cert = "", TLS_KEY: key = "", TLS_CA: ca = "" } = process.env;
const servers = await startHostileServers({ cert, key, ca });
process.send?.({ ready: true, urls: Object.values(servers.urls) });
process.once("disconnect", () => process.exit(0));
