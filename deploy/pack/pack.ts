// Packs the libraries that merchants and internal teams install. Usage: npm run pack
import { join } from "node:path";
import { ensureBuilt } from "../generate/output.ts";
import { printHelpIfRequested, refuseExtraArguments } from "../local/options.ts";
import { packSdk } from "./browser-sdk.ts";
import { packNodeClient } from "./node-client.ts";
import { packPythonClient } from "./python-client.ts";
import { packRpcClient } from "./rpc-client.ts";

const usage = `npm run pack -- [folder]

Packs into the folder (default .local) the browser SDK and the server library for Node, for npm, the one for Python,
a wheel for pip, and the internal API's protos with clients for Node; prints their paths.`;

printHelpIfRequested(usage);
const [folder = join(import.meta.dirname, "../../.local"), ...more] = process.argv.slice(2);
refuseExtraArguments(folder.startsWith("-") ? [folder] : more, usage);
await Promise.all([ensureBuilt("web"), ensureBuilt("clients")]);
for (const pack of [packSdk, packNodeClient, packPythonClient, packRpcClient]) console.log(await pack(folder));
