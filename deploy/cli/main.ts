// `npm run tollbooth -- <noun> <verb> …`, and `tollbooth …` in a container: the operators' commands. Exit codes: 0
// done; 1 refused, failed or check failed; 2 usage error. Services are found by the stack.json of a local stack, or by
// RPC_TOKEN_FILE and the services' addresses.
import { runCommandLine } from "./run-command-line.ts";

process.exitCode = await runCommandLine(process.argv.slice(2));
