// Texts of the operators' screens.
import { both } from "./both.ts";

export const operatorTexts = both(
  {
    merchants: "Merchants",
    merchant: "Merchant",
    status: "Status",
    country: "Country",
    created: "Created",
    noMerchants: "There is no merchant yet.",
    total: (count: string) => `${count} on this page`,
  },
  {
    merchants: "Händler",
    merchant: "Händler",
    status: "Status",
    country: "Land",
    created: "Erstellt",
    noMerchants: "Es gibt noch keinen Händler.",
    total: (count: string) => `${count} auf dieser Seite`,
  },
);
