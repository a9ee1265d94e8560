// Checkout branding (docs/contract.md §4 and §8): defaults, and checks that a pattern cannot express.
import { isEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";
import { isHttpsAddress } from "./profile.ts";

/** All fields are text; empty means not set. */
export interface Branding {
  readonly displayName: string;
  readonly tagline: string;
  readonly logoUrl: string;
  readonly accentColor: string;
  readonly secondaryColor: string;
  readonly supportEmail: string;
  readonly buttonStyle: string;
  readonly backgroundStyle: string;
  readonly theme: string;
  readonly fontFamily: string;
  readonly termsUrl: string;
  readonly privacyUrl: string;
  /** `hidden`, `optional` or `required`. */
  readonly emailField: string;
  /** `off` or `on`. */
  readonly emailReceipts: string;
}

export const brandingDefaults: Branding = {
  displayName: "",
  tagline: "",
  logoUrl: "",
  accentColor: "",
  secondaryColor: "",
  supportEmail: "",
  buttonStyle: "rounded",
  backgroundStyle: "subtle",
  theme: "light",
  fontFamily: "inter",
  termsUrl: "",
  privacyUrl: "",
  emailField: "hidden",
  emailReceipts: "off",
};

const urlLengthMax = 2_048;

/** Violations of the present fields, by wire name. The proto's rules have checked patterns and lengths. */
export function brandingViolations(change: Partial<Branding>): Violation[] {
  const found: Violation[] = [];
  const { logoUrl, termsUrl, privacyUrl } = change;
  for (const [field, url] of Object.entries({ logo_url: logoUrl, terms_url: termsUrl, privacy_url: privacyUrl })) {
    // The proto's rule admits no other http address.
    if (url && !isHttpsAddress(url, urlLengthMax) && !(field === "logo_url" && url.startsWith("http:")))
      found.push({ field, problem: "must be an https URL" });
  }
  if (change.supportEmail && !isEmail(change.supportEmail)) {
    found.push({ field: "support_email", problem: "must be an e-mail address" });
  }
  return found;
}

export type LogoType = "image/png" | "image/jpeg" | "image/webp";

/** By the first bytes; browsers execute nothing in these types. */
export function logoType(content: Buffer): LogoType | undefined {
  const start = content.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  return start.startsWith("RIFF") && start.endsWith("WEBP") ? "image/webp" : undefined;
}
