// Generates parts of the server libraries from the OpenAPI document of this source tree. Usage: npm run generate --
// clients
import { membersOf } from "#platform/values/unchecked.ts";
import { buildDocument } from "../../gateway/openapi/document.ts";
import { clientModel } from "./clients/model.ts";
import { nodeFiles } from "./clients/node.ts";
import { pythonFiles } from "./clients/python.ts";
import { outputs, writeOutput } from "./output.ts";

await writeOutput("clients", () => {
  const model = clientModel(membersOf(buildDocument()));
  const [node, python] = outputs.clients.folders;
  return new Map([
    ...[...nodeFiles(model)].map(([name, text]) => [`${node}/${name}`, text] as const),
    ...[...pythonFiles(model)].map(([name, text]) => [`${python}/${name}`, text] as const),
  ]);
});
