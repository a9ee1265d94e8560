// POST /api/files: a document or picture for evidence, as raw bytes, which are not stored.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { badField } from "../failure.ts";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import { insertFile } from "../store/evidence-files.ts";
import { accountOf, answerApi } from "./api-request.ts";

const types = ["application/pdf", "image/jpeg", "image/png"];
const bytesMax = 5 * 1_024 * 1_024;

export function fileRoutes(app: FastifyInstance, processor: Processor): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(types, async (request: FastifyRequest, payload: IncomingMessage) => {
      const hash = createHash("sha256");
      let size = 0;
      for await (const chunk of payload) {
        size += chunk.length;
        if (size > bytesMax) throw badField("file", `must have at most ${bytesMax} bytes`);
        hash.update(chunk);
      }
      if (size === 0) throw badField("file", "must not be empty");
      return { type: request.headers["content-type"] ?? "", size, sha256: hash.digest("hex") };
    });
    scope.post<{ Body: { type: string; size: number; sha256: string } }>(
      "/api/files",
      { bodyLimit: bytesMax + 1 },
      (request, reply) => {
        const account = accountOf(request);
        const call = { target: "api.files.create", references: async () => [] } as const;
        return answerApi(processor, request, reply, call, async () => {
          const { type, size, sha256 } = request.body;
          const file = { id: newId("file"), type, size, sha256, created_at: new Date().toISOString() };
          await insertFile(processor.db, { ...file, account });
          return { answer: { status: 201, body: file }, isWritten: false };
        });
      },
    );
    done();
  });
}
