// Onboarding applications as public JSON (docs/contract.md §8).
import { type Static, Type } from "typebox";
import type { Application } from "#proto/merchant/v1/merchant_pb.ts";
import { idSchema, jsonComponent, textSchema, timeSchema } from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";

export const ApplicationJson = jsonComponent(
  "Application",
  Type.Object({
    id: idSchema("application"),
    status: textSchema("`draft`, `submitted`, `approved` or `rejected`.", "draft"),
    applicant_email: Type.Optional(textSchema("Contact e-mail.", "owner@example.com")),
    legal_name: Type.Optional(textSchema("Registered name.", "Lemon Books GmbH")),
    trading_name: Type.Optional(textSchema("Trading name.", "Lemon Books")),
    country_code: Type.Optional(textSchema("ISO 3166-1 alpha-2.", "DE")),
    currency_code: Type.Optional(textSchema("ISO 4217.", "EUR")),
    merchant_id: Type.Optional(idSchema("merchant", "Set after approval.")),
    created_at: timeSchema("When it was created."),
    missing: Type.Optional(
      Type.Array(Type.String(), {
        description: "For a draft: required fields that are still empty.",
        examples: [["legal_name"]],
      }),
    ),
  }),
);

export function presentApplication(application: Application | undefined): Static<typeof ApplicationJson> {
  const json = presentMessage(ApplicationJson, application, { missing: undefined });
  // A complete draft shows that nothing is missing.
  return application?.status === "draft" ? { ...json, missing: application.missing } : json;
}
