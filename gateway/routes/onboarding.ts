// Onboarding applications: public, with limits per address (docs/contract.md §8).
import { Type } from "typebox";
import { idSchema, jsonComponent } from "../../services/public-json/field.ts";
import { type GatewayContext, openRoute } from "../auth/auth.ts";
import { displayLine } from "../http/display-text.ts";
import { ApplicationJson, presentApplication } from "../json/application.ts";
import { changeOf, clearable, currencyInput, currencyOf, emailInput, emailOf } from "../json/parts/input.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "Onboarding";

const fields = {
  applicant_email: emailInput("Contact e-mail."),
  legal_name: Type.String({ format: displayLine, maxLength: 200, examples: ["Lemon Books GmbH"] }),
  trading_name: Type.String({ format: displayLine, maxLength: 100, examples: ["Lemon Books"] }),
  country_code: Type.String({
    pattern: "^[A-Za-z]{2}$",
    description: "ISO 3166-1 alpha-2, any case.",
    examples: ["DE"],
  }),
  currency_code: currencyInput("ISO 4217, any case."),
};

const NewApplication = jsonComponent(
  "NewApplication",
  Type.Object({
    applicant_email: Type.Optional(fields.applicant_email),
    legal_name: Type.Optional(fields.legal_name),
    trading_name: Type.Optional(fields.trading_name),
    country_code: Type.Optional(fields.country_code),
    currency_code: Type.Optional(fields.currency_code),
  }),
);

const ApplicationChange = jsonComponent(
  "ApplicationChange",
  Type.Object(
    {
      applicant_email: Type.Optional(clearable(fields.applicant_email)),
      legal_name: Type.Optional(clearable(fields.legal_name)),
      trading_name: Type.Optional(clearable(fields.trading_name)),
      country_code: Type.Optional(clearable(fields.country_code)),
      currency_code: Type.Optional(clearable(fields.currency_code)),
    },
    { minProperties: 1, ...strict },
  ),
);

const applicationId = Type.Object({ id: idSchema("application", "Id of the application.") });

export function onboardingRoutes(context: GatewayContext, { applications }: Pick<Peers, "applications">): void {
  openRoute(context, {
    id: "createApplication",
    method: "POST",
    path: "/v1/onboarding/applications",
    limit: "onboarding",
    tag,
    summary: "Create a draft application",
    description:
      "Fields are optional until the application is submitted. A draft expires after 30 days. " +
      "Keep its id secret: it allows to read, change and submit the draft.",
    status: 201,
    body: NewApplication,
    response: ApplicationJson,
    handle: async ({ body }) => {
      const { application } = await applications.createApplication({
        applicantEmail: emailOf(body.applicant_email ?? ""),
        legalName: body.legal_name ?? "",
        tradingName: body.trading_name ?? "",
        countryCode: (body.country_code ?? "").toUpperCase(),
        currencyCode: body.currency_code ? currencyOf("currency_code", body.currency_code) : "",
      });
      return presentApplication(application);
    },
  });
  openRoute(context, {
    id: "submitApplication",
    method: "POST",
    path: "/v1/onboarding/applications/:id/submit",
    limit: "applicant",
    tag,
    summary: "Submit an application",
    description: "All fields are required. A repeat returns the current state.",
    params: applicationId,
    response: ApplicationJson,
    errors: ["not_found"],
    handle: async ({ params }) => {
      const { application } = await applications.submitApplication({ applicationId: params.id });
      return presentApplication(application);
    },
  });
  draftRoutes(context, applications);
}

function draftRoutes(context: GatewayContext, applications: Peers["applications"]): void {
  openRoute(context, {
    id: "getApplication",
    method: "GET",
    path: "/v1/onboarding/applications/:id",
    limit: "applicant",
    tag,
    summary: "Read an application",
    description: "A submitted application shows only its status, since the id is enough to read it.",
    params: applicationId,
    response: ApplicationJson,
    errors: ["not_found"],
    handle: async ({ params }) => {
      const { application } = await applications.getApplication({ applicationId: params.id });
      return presentApplication(application);
    },
  });
  openRoute(context, {
    id: "updateApplication",
    method: "PATCH",
    path: "/v1/onboarding/applications/:id",
    limit: "applicant",
    tag,
    summary: "Change a draft application",
    description: "Absent fields are unchanged; `null` clears a field. A submitted application cannot be changed.",
    params: applicationId,
    body: ApplicationChange,
    response: ApplicationJson,
    errors: ["not_found"],
    handle: async ({ params, body }) => {
      const { application } = await applications.updateApplication({
        applicationId: params.id,
        applicantEmail: changeOf(body.applicant_email, emailOf),
        legalName: changeOf(body.legal_name),
        tradingName: changeOf(body.trading_name),
        countryCode: changeOf(body.country_code, (code) => code.toUpperCase()),
        currencyCode: changeOf(body.currency_code, (code) => currencyOf("currency_code", code)),
      });
      return presentApplication(application);
    },
  });
}
