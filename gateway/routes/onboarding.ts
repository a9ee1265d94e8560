// Onboarding applications: public, limited by address (docs/contract.md §8).
import { Type } from "typebox";
import { type GatewayContext, openRoute } from "../auth/auth.ts";
import { displayLine } from "../http/display-text.ts";
import { ApplicationJson, presentApplication } from "../json/application.ts";
import { component } from "../json/parts/component.ts";
import { idSchema } from "../json/parts/field.ts";
import { currencyInput, currencyOf, emailInput } from "../json/parts/input.ts";
import type { Peers } from "../peers.ts";

const tag = "Onboarding";

const NewApplication = component(
  "NewApplication",
  Type.Object({
    applicant_email: Type.Optional(emailInput("Contact e-mail.")),
    legal_name: Type.Optional(Type.String({ format: displayLine, maxLength: 200, examples: ["Lemon Books GmbH"] })),
    trading_name: Type.Optional(Type.String({ format: displayLine, maxLength: 100, examples: ["Lemon Books"] })),
    country_code: Type.Optional(
      Type.String({ pattern: "^[A-Za-z]{2}$", description: "ISO 3166-1 alpha-2, any case.", examples: ["DE"] }),
    ),
    currency_code: Type.Optional(currencyInput("ISO 4217, any case.")),
  }),
);

/** Adds the operations. */
export function onboardingRoutes(context: GatewayContext, { applications }: Pick<Peers, "applications">): void {
  openRoute(
    context,
    {
      id: "createApplication",
      method: "POST",
      path: "/v1/onboarding/applications",
      tag,
      summary: "Create a draft application",
      description:
        "Any field may be left out until it is submitted. A draft that nobody submits is over after 30 days.",
      status: 201,
      body: NewApplication,
      response: ApplicationJson,
    },
    async ({ body }) => {
      const { application } = await applications.createApplication({
        applicantEmail: body.applicant_email ?? "",
        legalName: body.legal_name ?? "",
        tradingName: body.trading_name ?? "",
        countryCode: (body.country_code ?? "").toUpperCase(),
        currencyCode: body.currency_code ? currencyOf("currency_code", body.currency_code) : "",
      });
      return presentApplication(application);
    },
  );
  openRoute(
    context,
    {
      id: "submitApplication",
      method: "POST",
      path: "/v1/onboarding/applications/:id/submit",
      tag,
      summary: "Submit an application",
      description: "All fields are needed. Submitting again answers the current state.",
      status: 200,
      params: Type.Object({ id: idSchema("application", "Id of the application.") }),
      response: ApplicationJson,
      errors: ["not_found"],
    },
    async ({ params }) => {
      const { application } = await applications.submitApplication({ applicationId: params.id });
      return presentApplication(application);
    },
  );
}
