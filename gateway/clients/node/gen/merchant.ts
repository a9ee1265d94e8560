// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";

export interface Branding {
  /** Name on the page. */
  display_name?: string;
  /** Line under the name. */
  tagline?: string;
  /** https URL of the logo. */
  logo_url?: string;
  /** `#rrggbb`. */
  accent_color?: string;
  /** `#rrggbb`. */
  secondary_color?: string;
  /** For buyers' questions. */
  support_email?: string;
  /** `rounded`, `pill` or `rectangular`. */
  button_style?: "rounded" | "pill" | "rectangular" | (string & {});
  /** `subtle`, `plain`, `gradient` or `solid`. */
  background_style?: "subtle" | "plain" | "gradient" | "solid" | (string & {});
  /** `light`, `dark` or `auto`. */
  theme?: "light" | "dark" | "auto" | (string & {});
  /**
   * `inter`, `system`, `roboto`, `open_sans`, `lato`, `montserrat`, `nunito`, `source_sans_pro`, `noto_sans` or
   * `noto_serif`.
   */
  font_family?:
    | "inter"
    | "system"
    | "roboto"
    | "open_sans"
    | "lato"
    | "montserrat"
    | "nunito"
    | "source_sans_pro"
    | "noto_sans"
    | "noto_serif"
    | (string & {});
  /** https URL of the terms, linked on the hosted page. */
  terms_url?: string;
  /** https URL of the privacy notice, linked on the hosted page. */
  privacy_url?: string;
  /** Whether the hosted page asks for the buyer's e-mail: `hidden`, `optional` or `required`. */
  email_field?: "hidden" | "optional" | "required" | (string & {});
  /** Whether buyers get receipts by e-mail: `off` or `on`. */
  email_receipts?: "off" | "on" | (string & {});
}

export interface BrandingChange {
  /** At most 100 characters. */
  display_name?: string | null | undefined;
  /** At most 140 characters. */
  tagline?: string | null | undefined;
  /** https URL. At most 2,048 characters. */
  logo_url?: string | null | undefined;
  /** Accent, `#rrggbb`. */
  accent_color?: string | null | undefined;
  /** Second colour, `#rrggbb`. */
  secondary_color?: string | null | undefined;
  /** At most 254 characters. */
  support_email?: string | null | undefined;
  /** Buttons. */
  button_style?: "rounded" | "pill" | "rectangular" | undefined;
  /** Background. */
  background_style?: "subtle" | "plain" | "gradient" | "solid" | undefined;
  /** Theme. */
  theme?: "light" | "dark" | "auto" | undefined;
  /** Font. */
  font_family?:
    | "inter"
    | "system"
    | "roboto"
    | "open_sans"
    | "lato"
    | "montserrat"
    | "nunito"
    | "source_sans_pro"
    | "noto_sans"
    | "noto_serif"
    | undefined;
  /** https URL of the terms. At most 2,048 characters. */
  terms_url?: string | null | undefined;
  /** https URL of the privacy notice. At most 2,048 characters. */
  privacy_url?: string | null | undefined;
  /** Whether the hosted page asks for the buyer's e-mail, where you gave none. */
  email_field?: "hidden" | "optional" | "required" | undefined;
  /** Whether buyers get receipts by e-mail. */
  email_receipts?: "off" | "on" | undefined;
}

export interface Merchant {
  /** `mer_…`. */
  id: string;
  /** Trading name. */
  name: string;
  /** `pending`, `active`, `suspended` or `closed`. */
  status: "pending" | "active" | "suspended" | "closed" | (string & {});
  /** ISO 3166-1 alpha-2. */
  country_code: string;
  /** ISO 4217. */
  currency_code: string;
  /** Contact e-mail. */
  email: string;
}

export interface MerchantProfile {
  /** `mer_…`. */
  id: string;
  /** Trading name. */
  name: string;
  /** Registered name. */
  legal_name?: string;
  /** `pending`, `active`, `suspended` or `closed`. */
  status: "pending" | "active" | "suspended" | "closed" | (string & {});
  /** ISO 3166-1 alpha-2. */
  country: string;
  /** ISO 4217. */
  currency: string;
  /** Contact e-mail. */
  email: string;
  /** E.164. */
  phone?: string;
  /** https URL. */
  website?: string;
}

export interface MerchantProfileChange {
  /** At most 100 characters. */
  name?: string | undefined;
  /** At most 200 characters. */
  legal_name?: string | null | undefined;
  /** Contact e-mail. At most 254 characters. */
  email?: string | undefined;
  /** E.164. */
  phone?: string | null | undefined;
  /** https URL. At most 2,048 characters. */
  website?: string | null | undefined;
  /** ISO 3166-1 alpha-2; the merchant's own. */
  country?: string | undefined;
  /** ISO 4217; the merchant's own. */
  currency?: string | undefined;
}

export class MerchantResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read the merchant.
   * With the profile of the key's environment.
   * Scope `merchant:read`.
   */
  get(options?: RequestOptions): Promise<Merchant> {
    return this.#caller.send({ method: "GET", path: "/v1/merchants/me" }, options);
  }

  /**
   * Change the profile.
   * Absent fields stay; `null` clears legal_name, phone or website. `country` and `currency` cannot be changed: the
   * merchant's own are taken, others refused. Each environment has a profile of its own: a sandbox key changes nothing
   * that live buyers see.
   * Scope `merchant:write`.
   */
  updateProfile(body: MerchantProfileChange = {}, options?: RequestOptions): Promise<MerchantProfile> {
    return this.#caller.send({ method: "PATCH", path: "/v1/merchants/me/profile", body }, options);
  }

  /**
   * Read the checkout branding.
   * As buyers see it in the key's environment.
   * Scope `merchant:read`.
   */
  getBranding(options?: RequestOptions): Promise<Branding> {
    return this.#caller.send({ method: "GET", path: "/v1/merchants/me/branding" }, options);
  }

  /**
   * Change the checkout branding.
   * Absent fields stay; `null` clears a name, text, address or colour. Each environment has a branding of its own: a
   * sandbox key changes nothing that live buyers see.
   * Scope `merchant:write`.
   */
  updateBranding(body: BrandingChange = {}, options?: RequestOptions): Promise<Branding> {
    return this.#caller.send({ method: "PATCH", path: "/v1/merchants/me/branding", body }, options);
  }
}
