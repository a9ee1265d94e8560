// Connectors as public JSON (docs/contract.md §8), without credentials.
import { Type } from "typebox";
import { component, environmentSchema, idSchema, textSchema } from "./parts/field.ts";

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
