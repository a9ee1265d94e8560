// Connectors as public JSON (docs/contract.md §8), without credentials.
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
