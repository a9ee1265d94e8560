// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, RequestOptions } from "../caller.ts";
import { path } from "../path.ts";

export interface Application {
  /** `ma_…`. */
  id: string;
  /** `draft`, `submitted`, `approved` or `rejected`. */
  status: "draft" | "submitted" | "approved" | "rejected" | (string & {});
  /** Contact e-mail. */
  applicant_email?: string;
  /** Registered name. */
  legal_name?: string;
  /** Trading name. */
  trading_name?: string;
  /** ISO 3166-1 alpha-2. */
  country_code?: string;
  /** ISO 4217. */
  currency_code?: string;
  /** Once it is approved. */
  merchant_id?: string;
  /** When it was created. */
  created_at: string;
  /** Of a draft: the fields that are still needed. */
  missing?: string[];
}

export interface ApplicationChange {
  /** Contact e-mail. At most 254 characters. */
  applicant_email?: string | null | undefined;
  /** At most 200 characters. */
  legal_name?: string | null | undefined;
  /** At most 100 characters. */
  trading_name?: string | null | undefined;
  /** ISO 3166-1 alpha-2, any case. */
  country_code?: string | null | undefined;
  /** ISO 4217, any case. */
  currency_code?: string | null | undefined;
}

export interface NewApplication {
  /** Contact e-mail. At most 254 characters. */
  applicant_email?: string | undefined;
  /** At most 200 characters. */
  legal_name?: string | undefined;
  /** At most 100 characters. */
  trading_name?: string | undefined;
  /** ISO 3166-1 alpha-2, any case. */
  country_code?: string | undefined;
  /** ISO 4217, any case. */
  currency_code?: string | undefined;
}

export class ApplicationsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Create a draft application.
   * Any field may be left out until it is submitted. A draft that nobody submits is over after 30 days. Its id is the
   * applicant's secret: whoever has it reads, changes and submits the draft.
   * Without an API key.
   */
  create(body: NewApplication = {}, options?: RequestOptions): Promise<Application> {
    return this.#caller.send({ method: "POST", path: "/v1/onboarding/applications", body, isOpen: true }, options);
  }

  /**
   * Submit an application.
   * All fields are needed. Submitting again answers the current state.
   * Without an API key.
   */
  submit(applicationId: string, options?: RequestOptions): Promise<Application> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/onboarding/applications/${applicationId}/submit`, isOpen: true },
      options,
    );
  }

  /**
   * Read an application.
   * Of one that is submitted nothing but its status: whoever has the id reads it.
   * Without an API key.
   */
  get(applicationId: string, options?: RequestOptions): Promise<Application> {
    return this.#caller.send(
      { method: "GET", path: path`/v1/onboarding/applications/${applicationId}`, isOpen: true },
      options,
    );
  }

  /**
   * Change a draft application.
   * Absent fields stay, `null` empties one. What is submitted cannot be changed.
   * Without an API key.
   */
  update(applicationId: string, body: ApplicationChange, options?: RequestOptions): Promise<Application> {
    return this.#caller.send(
      { method: "PATCH", path: path`/v1/onboarding/applications/${applicationId}`, body, isOpen: true },
      options,
    );
  }
}
