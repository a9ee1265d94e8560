// Connectors of a merchant: list, choose surface, make primary (docs/contract.md §8).
import { Type } from "typebox";
import { invalidField } from "#platform/values/failure.ts";
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
  }),
);

const ConnectorChange = jsonComponent(
  "ConnectorChange",
  Type.Object(
    {
      selected_surface: Type.Optional(enumSchema(surfaces, "One of the connector's allowed surfaces.")),
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

export function connectorRoutes(context: GatewayContext, { connectors }: Pick<Peers, "connectors">): void {
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "listConnectors",
      method: "GET",
      path: "/v1/merchants/me/connectors",
      tag,
      summary: "List the connectors",
      description: "Your accounts at card processors in the key's environment, without credentials.",
      status: 200,
      response: dataSchema(ConnectorJson),
    },
    async ({ principal: { merchantId, environment } }) => ({
      data: (await connectors.listConnectors({ merchantId, environment })).connectors.map((each) =>
        presentMessage(ConnectorJson, each),
      ),
    }),
  );
  merchantRoute(
    context,
    "merchant:write",
    {
      id: "updateConnector",
      method: "PATCH",
      path: "/v1/merchants/me/connectors/:cid",
      tag,
      summary: "Choose the surface or make a connector primary",
      description: "At least one field is required.",
      status: 200,
      params: Type.Object({ cid: idSchema("connector", "Id of the connector.") }),
      body: ConnectorChange,
      response: ConnectorJson,
      errors: ["not_found", "connector_not_eligible"],
    },
    async ({ principal: { merchantId, environment }, params, body }) => {
      const { selected_surface: selectedSurface, is_default: makeDefault = false } = body;
      if (selectedSurface === undefined && !makeDefault)
        throw invalidField("", "must have at least one of selected_surface, is_default");
      const { connector } = await connectors.updateConnector({
        merchantId,
        environment,
        connectorId: params.cid,
        ...(selectedSurface !== undefined && { selectedSurface }),
        makeDefault,
      });
      return presentMessage(ConnectorJson, connector);
    },
  );
}
