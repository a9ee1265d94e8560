// Routing between a merchant's connectors: read it, replace it as a whole (docs/contract.md §8).

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Static, Type } from "typebox";
import type { Routing, RoutingSchema } from "#proto/merchant/v1/merchant_pb.ts";
import { enumSchema, idSchema, jsonComponent, optionalField } from "../../services/public-json/field.ts";
import { captureMethods, retriableCodes } from "../../services/public-json/payment.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { currencyInput } from "../json/parts/input.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "Connectors";

const boundSchema = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 99_999_999, description, examples: [2500] });

const RuleJson = jsonComponent(
  "RoutingRule",
  Type.Object(
    {
      when: Type.Object(
        {
          currency: Type.Optional(currencyInput("ISO 4217, any case.")),
          amount_min: Type.Optional(boundSchema("At least this amount, minor units.")),
          amount_max: Type.Optional(boundSchema("At most this amount, minor units.")),
          capture_method: Type.Optional(enumSchema(captureMethods, "The session's.")),
        },
        { ...strict, description: "Conditions that must all hold; `{}` matches every session." },
      ),
      use: Type.Array(idSchema("connector"), {
        minItems: 1,
        maxItems: 5,
        uniqueItems: true,
        description: "Connectors in order of use. Inactive ones, and those that cannot capture later, are skipped.",
      }),
      share: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          description: "Percentage of the matching sessions; later rules get the others. Default: all of them.",
          examples: [20],
        }),
      ),
    },
    strict,
  ),
);

const OnDecline = Type.Object(
  {
    codes: Type.Array(enumSchema(retriableCodes, "A failure code of payments."), { minItems: 1, uniqueItems: true }),
    next: Type.Unsafe<true>({ type: "boolean", enum: [true], description: "The next connector.", examples: [true] }),
  },
  strict,
);

const RoutingJson = jsonComponent(
  "Routing",
  Type.Object(
    {
      rules: Type.Array(RuleJson, {
        maxItems: 20,
        description: "The first that matches and has a usable connector wins; otherwise the primary connector.",
      }),
      on_outage: enumSchema(
        ["next", "stop"],
        "`next`: a session whose payment was certainly not sent goes to the next connector. `stop`: it fails.",
      ),
      on_decline: Type.Optional(
        Type.Unsafe<Static<typeof OnDecline> | null>({
          anyOf: [OnDecline, { type: "null" }],
          description: "After such a decline the session gets one payment form at the next connector. Default: never.",
        }),
      ),
      version: Type.Integer({
        minimum: 0,
        maximum: 2_147_483_646,
        description: "Counts the changes. Send the one that you read: another one is refused.",
        examples: [3],
      }),
    },
    strict,
  ),
);

const path = "/v1/merchants/me/routing";

export function routingRoutes(context: GatewayContext, { connectors }: Pick<Peers, "connectors">): void {
  merchantRoute(context, {
    id: "getRouting",
    method: "GET",
    path,
    scope: "merchant:read",
    tag,
    summary: "Read the routing",
    description: "How new sessions of the key's environment choose a connector.",
    response: RoutingJson,
    handle: async ({ principal: { merchantId, environment } }) =>
      presentRouting((await connectors.getRouting({ merchantId, environment })).routing),
  });
  merchantRoute(context, {
    id: "replaceRouting",
    method: "PUT",
    path,
    scope: "merchant:write",
    tag,
    summary: "Replace the routing",
    description: "Checks and replaces all rules at once. Payments that exist keep their connector.",
    body: RoutingJson,
    response: RoutingJson,
    handle: async ({ principal: { merchantId, environment }, body }) =>
      presentRouting((await connectors.replaceRouting({ merchantId, environment, routing: routingOf(body) })).routing),
  });
}

function routingOf({ rules, on_outage: onOutage, on_decline, version }: Static<typeof RoutingJson>) {
  const wire: MessageInitShape<typeof RoutingSchema> = {
    onOutage,
    version,
    declineCodes: on_decline?.codes ?? [],
    rules: rules.map(({ when, use, share }) => ({
      currency: when.currency?.toUpperCase() ?? "",
      amountMin: BigInt(when.amount_min ?? 0),
      amountMax: BigInt(when.amount_max ?? 0),
      captureMethod: when.capture_method ?? "",
      use,
      share: share ?? 0,
    })),
  };
  return wire;
}

function presentRouting(routing: Routing | undefined): Static<typeof RoutingJson> {
  if (!routing) throw new Error("the routing is missing");
  const { rules, version, declineCodes } = routing;
  const codes = retriableCodes.filter((code) => declineCodes.includes(code));
  return {
    rules: rules.map(({ use, share, ...when }) => ({
      when: {
        ...optionalField("currency", when.currency),
        ...(when.amountMin > 0n && { amount_min: Number(when.amountMin) }),
        ...(when.amountMax > 0n && { amount_max: Number(when.amountMax) }),
        ...optionalField(
          "capture_method",
          captureMethods.find((each) => each === when.captureMethod),
        ),
      },
      use,
      ...(share > 0 && { share }),
    })),
    on_outage: routing.onOutage === "next" ? "next" : "stop",
    ...(codes.length > 0 && { on_decline: { codes, next: true as const } }),
    version,
  };
}
