// grpc.reflection.v1 from the generated descriptors: `buf curl` and other gRPC tools work without proto files.
import { create, createRegistry, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import {
  ErrorResponseSchema,
  FileDescriptorResponseSchema,
  ListServiceResponseSchema,
  type ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "#proto/grpc/reflection/v1/reflection_pb.ts";

type Question = ServerReflectionRequest["messageRequest"];
type ReflectionAnswer = ServerReflectionResponse["messageResponse"];

/** Describes the services and everything they import. */
export function reflectionRoutes(services: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const files = new Map(services.flatMap((s) => closure(s.file)).map((file) => [file.proto.name, file]));
  const registry = createRegistry(...files.values());
  const answer = (question: Question): ReflectionAnswer => {
    switch (question.case) {
      case "listServices":
        return {
          case: "listServicesResponse",
          value: create(ListServiceResponseSchema, { service: services.map((s) => ({ name: s.typeName })) }),
        };
      case "fileByFilename":
        return described(files.get(question.value), question.value);
      case "fileContainingSymbol":
        return described(fileOf(registry, question.value), question.value);
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = question.value;
        const extension = [...registry].find(
          (d) => d.kind === "extension" && d.extendee.typeName === containingType && d.number === extensionNumber,
        );
        return described(
          extension?.kind === "extension" ? extension.file : undefined,
          `extension of ${containingType}`,
        );
      }
      default:
        return refusedAnswer(Code.Unimplemented, "this request is not supported");
    }
  };
  return {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield { validHost: request.host, originalRequest: request, messageResponse: answer(request.messageRequest) };
      }
    },
  };
}

/** The file and all its imports, transitively. */
function closure(root: DescFile, seen = new Set<DescFile>()): DescFile[] {
  if (seen.has(root)) return [];
  seen.add(root);
  return [root, ...root.dependencies.flatMap((file) => closure(file, seen))];
}

/** The file that declares a symbol; a method or field is found by its parent. */
function fileOf(registry: Registry, symbol: string): DescFile | undefined {
  const parent = symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")));
  return (registry.get(symbol) ?? registry.get(parent))?.file;
}

function described(file: DescFile | undefined, what: string): ReflectionAnswer {
  if (!file) return refusedAnswer(Code.NotFound, `${what} not found`);
  const encoded = closure(file).map((f) => toBinary(FileDescriptorProtoSchema, f.proto));
  return {
    case: "fileDescriptorResponse",
    value: create(FileDescriptorResponseSchema, { fileDescriptorProto: encoded }),
  };
}

function refusedAnswer(code: Code, message: string): ReflectionAnswer {
  return { case: "errorResponse", value: create(ErrorResponseSchema, { errorCode: code, errorMessage: message }) };
}
