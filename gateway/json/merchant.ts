// A merchant and its profile as public JSON (docs/contract.md §8).
import { type Static, Type } from "typebox";
import type { Merchant } from "#proto/merchant/v1/merchant_pb.ts";
import { idSchema, jsonComponent, textSchema } from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";

const status = textSchema("`pending`, `active`, `suspended` or `closed`.", "active");
const email = textSchema("Contact e-mail.", "owner@example.com");

export const MerchantJson = jsonComponent(
  "Merchant",
  Type.Object({
    id: idSchema("merchant"),
    name: textSchema("Trading name.", "Lemon Books"),
    status,
    country_code: textSchema("ISO 3166-1 alpha-2.", "DE"),
    currency_code: textSchema("ISO 4217.", "EUR"),
    email,
  }),
);

export const ProfileJson = jsonComponent(
  "MerchantProfile",
  Type.Object({
    id: idSchema("merchant"),
    name: textSchema("Trading name.", "Lemon Books"),
    legal_name: Type.Optional(textSchema("Registered name.", "Lemon Books GmbH")),
    status,
    country: textSchema("ISO 3166-1 alpha-2.", "DE"),
    currency: textSchema("ISO 4217.", "EUR"),
    email,
    phone: Type.Optional(textSchema("E.164.", "+49301234567")),
    website: Type.Optional(textSchema("https URL.", "https://lemonbooks.example")),
  }),
);

export function presentMerchant(merchant: Merchant | undefined): Static<typeof MerchantJson> {
  return presentMessage(MerchantJson, merchant, { country_code: merchant?.country, currency_code: merchant?.currency });
}
