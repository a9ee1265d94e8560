// `npm run tollbooth -- <noun> <verb> …`, and `tollbooth …` in a container: what operators do, from a terminal or a
// script. Exit code 0: done; 1: refused, failed or not well; 2: a wrong word. What calls services reads the stack.json
// of a local stack, or RPC_TOKEN_FILE and the services' addresses.
import { runCommandLine } from "./run-words.ts";

process.exitCode = await runCommandLine(process.argv.slice(2));
