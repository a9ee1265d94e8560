// Connectors as public JSON (docs/contract.md §8). Credentials never come this way.
import { type Static, Type } from "typebox";
import type { Connector } from "#proto/merchant/v1/merchant_pb.ts";
import { component, environmentSchema, environmentText, idSchema, optionalField, textSchema } from "./parts/field.ts";

export const surfaces = ["embedded", "hosted", "redirect"] as const;

export const ConnectorJson = component(
  "Connector",
  Type.Object({
    id: idSchema("connector"),
    connector: textSchema("Name of the connector.", "simulator"),
    environment: environmentSchema,
    is_default: Type.Boolean({ description: "The primary one." }),
    is_active: Type.Boolean({ description: "False: no new sessions use it." }),
    can_be_primary: Type.Boolean({ description: "False: it can never be made primary." }),
    allowed_surfaces: Type.Array(Type.String(), { examples: [["embedded", "hosted", "redirect"]] }),
    default_surface: Type.Optional(textSchema("Used while none is selected.", "embedded")),
    selected_surface: Type.Optional(textSchema("The merchant's choice.", "hosted")),
    surface: Type.Optional(textSchema("What new sessions get.", "hosted")),
    external_account_id: Type.Optional(textSchema("The account's id at the processor.")),
  }),
);

/** A connector without its credentials. */
export function presentConnector(connector: Connector | undefined): Static<typeof ConnectorJson> {
  if (!connector) throw new Error("the connector is missing");
  return {
    id: connector.id,
    connector: connector.connector,
    environment: environmentText(connector.environment),
    is_default: connector.isDefault,
    is_active: connector.isActive,
    can_be_primary: connector.canBePrimary,
    allowed_surfaces: connector.allowedSurfaces,
    ...optionalField("default_surface", connector.defaultSurface),
    ...optionalField("selected_surface", connector.selectedSurface),
    ...optionalField("surface", connector.surface),
    ...optionalField("external_account_id", connector.externalAccountId),
  };
}
