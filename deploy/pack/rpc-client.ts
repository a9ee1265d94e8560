// Packs what internal teams build on: the protos, for `buf generate` and protoc, and typed clients for Node. Health and
// reflection are left out: generated for Python, their package `grpc` would hide grpcio's.
import { execFileSync } from "node:child_process";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { releaseVersion } from "#platform/values/release.ts";
import rootManifest from "../../package.json" with { type: "json" };
import { packForNpm, useJsImports } from "./npm-package.ts";
import { repositoryOf } from "./repository.ts";

const root = join(import.meta.dirname, "../..");

/** @returns the tarball's path */
export async function packRpcClient(folder: string): Promise<string> {
  return await packForNpm(folder, manifest(releaseVersion()), async (stage) => {
    await cp(join(root, "proto"), join(stage, "proto"), { recursive: true, filter: isProto });
    await writeFile(join(stage, "tsconfig.json"), JSON.stringify(compilation(stage)));
    execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", stage], { cwd: root, stdio: "pipe" });
    await useJsImports(stage, "clients/**/*.{js,d.ts}");
    await writeFile(join(stage, "README.md"), readme);
  });
}

function isProto(path: string): boolean {
  return !/\/proto\/(gen|grpc|buf\.gen\.yaml)(\/|$)/.test(path);
}

function compilation(stage: string) {
  return {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      ...{ noEmit: false, declaration: true, incremental: false, allowImportingTsExtensions: true },
      ...{ rewriteRelativeImportExtensions: true, skipLibCheck: true, types: [] },
      ...{ rootDir: join(root, "proto/gen"), outDir: join(stage, "clients") },
    },
    include: [join(root, "proto/gen")],
    exclude: [join(root, "proto/gen/grpc")],
  };
}

const readme = `# Tollbooth's internal API

\`proto/\` has the protos for \`buf generate\` and protoc; \`clients/\` has each service for connect-es:

    import { createClient } from "@connectrpc/connect";
    import { createGrpcTransport } from "@connectrpc/connect-node";
    import { MerchantService } from "@tollbooth/rpc/merchant/v1/merchant_pb.js";

Addresses, tokens and rules: docs/internal-api.md of the repository.
`;

function manifest(version: string) {
  const { "@bufbuild/protobuf": protobuf, "@bufbuild/protovalidate": protovalidate } = rootManifest.dependencies;
  return {
    name: "@tollbooth/rpc",
    version,
    description: "Protos and typed clients of Tollbooth's internal API.",
    license: "Apache-2.0",
    ...repositoryOf(root, "proto"),
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: { "./*": "./clients/*" },
    dependencies: { "@bufbuild/protobuf": protobuf, "@bufbuild/protovalidate": protovalidate },
    files: ["clients", "proto"],
  };
}
