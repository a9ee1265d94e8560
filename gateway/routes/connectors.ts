// Connectors of a merchant: list, choose surface, make primary (docs/contract.md §8).
import { type Static, Type } from "typebox";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import type { Connector } from "#proto/merchant/v1/merchant_pb.ts";
import {
  enumSchema,
  environmentSchema,
  idSchema,
  jsonComponent,
  textSchema,
} from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { dataSchema } from "../json/parts/list.ts";
import type { Peers } from "../peers.ts";

const tag = "Connectors";

const surfaces = ["embedded", "hosted", "redirect"] as const;

const ConnectorJson = jsonComponent(
  "Connector",
  Type.Object({
    id: idSchema("connector"),
    connector: textSchema("Name of the connector.", "simulator"),
    environment: environmentSchema,
    is_default: Type.Boolean({ description: "True for the primary connector." }),
    is_active: Type.Boolean({ description: "If false, new sessions do not use it." }),
    can_be_primary: Type.Boolean({ description: "If false, it cannot be made primary." }),
    allowed_surfaces: Type.Array(Type.String(), { examples: [["embedded", "hosted", "redirect"]] }),
    default_surface: Type.Optional(textSchema("Surface used until you select one.", "embedded")),
    selected_surface: Type.Optional(textSchema("Surface that you selected.", "hosted")),
    surface: Type.Optional(textSchema("Surface of new sessions.", "hosted")),
    external_account_id: Type.Optional(textSchema("The account's id at the processor.")),
    payment_methods: Type.Array(Type.String(), {
      description: "Types of the methods that new sessions offer. Wallets such as Apple Pay belong to `card`.",
      examples: [["card", "ideal"]],
    }),
  }),
);

const MethodTermsJson = jsonComponent(
  "PaymentMethodTerms",
  Type.Object({
    type: textSchema("As the payment's `payment_method.type`.", "sepa_debit"),
    currencies: Type.Array(Type.String(), { description: "ISO 4217; empty: every one.", examples: [["EUR"]] }),
    refund: enumSchema(["full", "partial", "none"], "`full`: only as a whole; `partial`: any part; `none`."),
    delayed: Type.Boolean({ description: "If true, it can take days, and be returned after it succeeded." }),
    disputes: Type.Boolean({ description: "If true, the buyer can dispute it." }),
    manual_capture: Type.Boolean({ description: "If true, `capture_method` can be `manual`." }),
  }),
);

const ConnectorRecord = jsonComponent(
  "ConnectorRecord",
  Type.Object({
    ...ConnectorJson.properties,
    methods: Type.Array(MethodTermsJson, { description: "The methods that you can switch on." }),
  }),
);

const ConnectorChange = jsonComponent(
  "ConnectorChange",
  Type.Object(
    {
      selected_surface: Type.Optional(enumSchema(surfaces, "One of the connector's allowed surfaces.")),
      payment_methods: Type.Optional(
        Type.Array(Type.String({ maxLength: 64, examples: ["ideal"] }), {
          minItems: 1,
          maxItems: 50,
          description: "Types of the connector's `methods`, which new sessions then offer.",
        }),
      ),
      is_default: Type.Optional(
        Type.Unsafe<true>({
          type: "boolean",
          enum: [true],
          description: "Makes this connector primary instead of the current one.",
          examples: [true],
        }),
      ),
    },
    { minProperties: 1 },
  ),
);

type ConnectorPeers = Pick<Peers, "connectors" | "payments">;

export function connectorRoutes(context: GatewayContext, peers: ConnectorPeers): void {
  const { connectors } = peers;
  merchantRoute(context, {
    id: "listConnectors",
    method: "GET",
    path: "/v1/merchants/me/connectors",
    scope: "merchant:read",
    tag,
    summary: "List the connectors",
    description: "Your accounts at card processors in the key's environment, without credentials.",
    response: dataSchema(ConnectorJson),
    handle: async ({ principal: { merchantId, environment } }) => ({
      data: (await connectors.listConnectors({ merchantId, environment })).connectors.map((each) =>
        presentConnector(each),
      ),
    }),
  });
  readConnector(context, peers);
  merchantRoute(context, {
    id: "updateConnector",
    method: "PATCH",
    path: "/v1/merchants/me/connectors/:cid",
    scope: "merchant:write",
    tag,
    summary: "Choose surface and methods, or make a connector primary",
    description: "At least one field is required.",
    params: Type.Object({ cid: idSchema("connector", "Id of the connector.") }),
    body: ConnectorChange,
    response: ConnectorJson,
    errors: ["not_found", "connector_not_eligible"],
    handle: async ({ principal: { merchantId, environment }, params, body }) => {
      const { selected_surface: selectedSurface, is_default: makeDefault = false, payment_methods: methods } = body;
      const isOther = selectedSurface !== undefined || makeDefault;
      if (!isOther && !methods)
        throw invalidField("", "must have at least one of selected_surface, payment_methods, is_default");
      const named = { merchantId, environment, connectorId: params.cid };
      const chosen = methods && (await peers.payments.choosePaymentMethods({ ...named, paymentMethods: methods }));
      if (!isOther) return presentConnector(chosen?.connector);
      const { connector } = await connectors.updateConnector({
        ...named,
        ...(selectedSurface !== undefined && { selectedSurface }),
        makeDefault,
      });
      return presentConnector(connector);
    },
  });
}

/** A merchant service of the previous release sends no methods, which means cards. */
function presentConnector(connector: Connector | undefined): Static<typeof ConnectorJson> {
  const methods = connector?.paymentMethods ?? [];
  return presentMessage(ConnectorJson, connector, { payment_methods: methods.length > 0 ? methods : ["card"] });
}

function readConnector(context: GatewayContext, { connectors, payments }: ConnectorPeers): void {
  merchantRoute(context, {
    id: "getConnector",
    method: "GET",
    path: "/v1/merchants/me/connectors/:cid",
    scope: "merchant:read",
    tag,
    summary: "Read a connector with its payment methods",
    description:
      "`methods` are those that the connector offers, with their terms; `payment_methods` those switched on.",
    params: Type.Object({ cid: idSchema("connector", "Id of the connector.") }),
    response: ConnectorRecord,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const found = await connectors.listConnectors({ merchantId, environment });
      const connector = requireFound(found.connectors.find(({ id }) => id === params.cid));
      const { methods } = await payments.listPaymentMethods({ merchantId, environment, connectorId: params.cid });
      return {
        ...presentConnector(connector),
        methods: methods.map((terms) => presentMessage(MethodTermsJson, terms)),
      };
    },
  });
}
