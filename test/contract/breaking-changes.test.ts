// The comparison that keeps /v1 compatible: it finds each kind of break, and additions are no break.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { suite } from "../harness/suite.ts";
import { breakingChanges } from "./breaking-changes.ts";

const test = suite("breaking changes");

const released = {
  paths: {
    "/v1/things": {
      get: {
        operationId: "listThings",
        parameters: [{ in: "query", name: "status", schema: { enum: ["new", "old"] } }],
        responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } } },
      },
      post: {
        operationId: "createThing",
        parameters: [],
        requestBody: {
          content: {
            "application/json": {
              schema: { type: "object", required: ["name"], properties: { name: { type: "string", maxLength: 40 } } },
            },
          },
        },
        responses: { 201: {}, 422: {} },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: "object",
        required: ["id", "state"],
        properties: { id: { type: "string" }, state: { enum: ["new", "old"] }, size: { type: ["integer", "null"] } },
      },
    },
  },
};

const list = ["paths", "/v1/things", "get"];
const create = ["paths", "/v1/things", "post"];
const sent = [...create, "requestBody", "content", "application/json", "schema"];
const thing = ["components", "schemas", "Thing"];

type Change = readonly [place: readonly string[], value: unknown];

/** The lines after changes to a copy; a value that is undefined takes its place away. */
function after(...changes: readonly Change[]): string[] {
  const copy = structuredClone(released);
  for (const [path, value] of changes) {
    const owner = path.slice(0, -1).reduce<unknown>((at, name) => membersOf(at)[name], copy);
    assert.ok(typeof owner === "object" && owner !== null, path.join("."));
    Reflect.set(owner, path.at(-1) ?? "", value);
  }
  return breakingChanges(released, JSON.parse(JSON.stringify(copy)));
}

const status = { in: "query", name: "status", schema: { enum: ["new", "old"] } };
const needed = { in: "query", name: "of", required: true, schema: {} };
const [orNull, nameAndSize] = [
  ["string", "null"],
  ["name", "size"],
];
const breaks: readonly (readonly [line: string, change: Change])[] = [
  ["POST /v1/things: gone", [create, undefined]],
  ["GET /v1/things: its operationId is another", [[...list, "operationId"], "things"]],
  ["GET /v1/things: parameter query status is gone", [[...list, "parameters"], []]],
  ["GET /v1/things: parameter query status is needed now", [[...list, "parameters"], [{ ...status, required: true }]]],
  [
    "GET /v1/things: parameter query of is new and needed",
    [
      [...list, "parameters"],
      [status, needed],
    ],
  ],
  [
    "GET /v1/things: parameter query status: value old is gone",
    [[...list, "parameters"], [{ ...status, schema: { enum: ["new"] } }]],
  ],
  ["POST /v1/things: 422 is gone", [[...create, "responses", "422"], undefined]],
  ["GET /v1/things: 200.size: gone", [[...thing, "properties", "size"], undefined]],
  ["GET /v1/things: 200.state: not always there any more", [[...thing, "required"], ["id"]]],
  ["GET /v1/things: 200.id: type string became integer", [[...thing, "properties", "id", "type"], "integer"]],
  ["GET /v1/things: 200.id: type string became string|null", [[...thing, "properties", "id", "type"], orNull]],
  ["GET /v1/things: 200.state: value old is gone", [[...thing, "properties", "state", "enum"], ["new"]]],
  ["POST /v1/things: body.size: needed now", [[...sent, "required"], nameAndSize]],
  ["POST /v1/things: body.name: maxLength 40 became 20", [[...sent, "properties", "name", "maxLength"], 20]],
  ["POST /v1/things: body.name: pattern undefined became ^a", [[...sent, "properties", "name", "pattern"], "^a"]],
  ["POST /v1/things: body.name: takes a only", [[...sent, "properties", "name", "enum"], ["a"]]],
  ["POST /v1/things: body.name: gone", [[...sent, "properties"], {}]],
];

for (const [line, change] of breaks) test(`a break: ${line}`, () => assert.deepEqual(after(change), [line]));

test("additions, wider inputs and better texts are no break", () => {
  const changes = after(
    [["paths", "/v1/others"], { get: { operationId: "listOthers" } }],
    [
      [...list, "parameters"],
      [
        { ...status, schema: { enum: ["new", "old", "older"] } },
        { in: "query", name: "of", schema: {} },
      ],
    ],
    [
      [...thing, "properties", "state", "enum"],
      ["new", "old", "older"],
    ],
    [[...thing, "properties", "colour"], { type: "string" }],
    [
      [...thing, "required"],
      ["id", "state", "size"],
    ],
    [[...thing, "properties", "size", "type"], "integer"],
    [[...sent, "properties", "name"], { type: "string", maxLength: 80, minLength: 0 }],
    [[...sent, "properties", "colour"], { type: "string" }],
    [[...sent, "required"], []],
    [[...create, "responses", "409"], {}],
    [[...list, "description"], "All things."],
  );
  assert.deepEqual(changes, []);
});

test.run();
