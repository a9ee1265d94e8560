// Roles and rights as people read them; their names are the merchant service's.
import { both, type Language } from "./both.ts";

const roleTexts = both(
  {
    owner: "Owner",
    admin: "Administrator",
    developer: "Developer",
    support: "Support",
    finance: "Finance",
    viewer: "Viewer",
    operator: "Operator",
    auditor: "Auditor",
  },
  {
    owner: "Inhaber",
    admin: "Verwaltung",
    developer: "Entwicklung",
    support: "Kundenservice",
    finance: "Buchhaltung",
    viewer: "Nur lesen",
    operator: "Betrieb",
    auditor: "Prüfung",
  },
);

/** A role that this release does not know is shown by its own name. */
export function roleName(language: Language, role: string): string {
  const text = new Map<string, unknown>(Object.entries(roleTexts[language])).get(role);
  return typeof text === "string" ? text : role;
}
