// Onboarding applications: creates and changes drafts; submits, approves and rejects; each in ONE transaction. Approval
// creates the merchant in the same transaction, so an approved application has exactly one merchant, and invites the
// applicant as its first owner.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newSecretId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import {
  type ApplicationCommand,
  type ApplicationFields,
  decideApplication,
  fieldViolations,
  isExpired,
  missingFields,
} from "../rules/application.ts";
import { normalEmail } from "../rules/people/person.ts";
import { type Application, findApplication, insertApplication, lockApplication } from "../store/applications.ts";
import type { MappedTx } from "../store/mapped-database.ts";
import { addMerchant } from "./create-merchant.ts";
import { addInvitation } from "./people/invite-member.ts";

/** @throws Failure INVALID_BODY */
export async function createApplication(context: MerchantContext, fields: ApplicationFields): Promise<Application> {
  const violations = fieldViolations(fields);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const application: Application = {
    ...fields,
    id: newSecretId("application"),
    status: "draft",
    merchantId: null,
    createdAt: clockNow(),
  };
  await context.db.transaction((tx) => insertApplication(tx.em, application));
  return application;
}

/** @throws Failure NOT_FOUND */
export async function readApplication(context: MerchantContext, applicationId: string): Promise<Application> {
  const application = await findApplication(context.db.em(), applicationId);
  if (!application || isExpired(application, clockNow())) throw new Failure("NOT_FOUND");
  return application;
}

/** @throws Failure NOT_FOUND, INVALID_BODY (an invalid field, or no longer a draft) */
export async function changeDraft(
  context: MerchantContext,
  applicationId: string,
  fields: Partial<ApplicationFields>,
): Promise<Application> {
  return await context.db.transaction(async (tx) => {
    const application = await lockApplication(tx.em, applicationId);
    if (!application || isExpired(application, clockNow())) throw new Failure("NOT_FOUND");
    if (application.status !== "draft") throw refusal(`is ${application.status}: only a draft can be changed`);
    const violations = fieldViolations({ ...application, ...fields });
    if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
    return Object.assign(application, fields);
  });
}

/**
 * Executes the command; repeating it changes nothing.
 * @throws Failure NOT_FOUND, INVALID_BODY (a field is missing, or the status does not allow it).
 */
export async function moveApplication(
  context: MerchantContext,
  applicationId: string,
  command: ApplicationCommand,
): Promise<Application> {
  const moved = await context.db.transaction(async (tx) => {
    const application = await lockApplication(tx.em, applicationId);
    if (!application || isExpired(application, clockNow())) throw new Failure("NOT_FOUND");
    const decision = decideApplication(application.status, command);
    if (decision.kind === "unchanged") return application;
    if (decision.kind === "refused") throw refusal(decision.problem);
    const missing = missingFields(application);
    if (missing.length > 0) throw new Failure("INVALID_BODY", { violations: missing });
    if (decision.to === "approved") {
      application.merchantId = (await addMerchant(context, tx, newMerchant(application))).id;
      await inviteApplicant(context, tx, application.merchantId, application.applicantEmail);
    }
    application.status = decision.to;
    await context.outbox.append(tx, [
      {
        type: `application.${decision.to}`,
        merchantId: application.merchantId ?? "",
        environment: Environment.UNSPECIFIED,
        objectId: application.id,
        status: decision.to,
        at: clockNow(),
      },
    ]);
    return application;
  });
  context.outbox.wake();
  context.mails.now();
  return moved;
}

/** Without mail or a console the link could reach no one: the operator then invites the owner by command. */
async function inviteApplicant(context: MerchantContext, tx: MappedTx, merchantId: string, email: string) {
  if (!context.canMail || !context.doors.has("merchants")) return;
  const owner = { email: normalEmail(email), role: "owner", refundLimit: undefined, language: "" };
  await addInvitation(context, tx, { ...owner, merchantId, manager: { personId: undefined } });
}

function refusal(problem: string): Failure {
  return new Failure("INVALID_BODY", { violations: [{ field: "status", problem }] });
}

function newMerchant(application: Application) {
  return {
    name: application.tradingName,
    legalName: application.legalName,
    email: application.applicantEmail,
    country: application.countryCode,
    currency: application.currencyCode,
  };
}
