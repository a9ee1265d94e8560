// Starts and wires the merchant service.
import { ConfigError, type ConfigValues } from "#platform/process/config.ts";
import { ownHost } from "#platform/process/host.ts";
import { Wake } from "#platform/process/job.ts";
import { defineRpc } from "#platform/rpc/server.ts";
import type { OpenedConfig } from "#platform/secrets/open-keys.ts";
import { HashKeys } from "#platform/secrets/vault.ts";
import { type RunningService, type ServiceBase, type ServiceParts, startService } from "#platform/service/service.ts";
import { providerOf } from "#platform/service/settings.ts";
import { clockMs } from "#platform/values/clock.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { PeopleService, SignInService } from "#proto/merchant/v1/people_pb.ts";
import { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import { receiptsPerHourDefault } from "./flows/queue-buyer-mail.ts";
import { repeatKeyEnds } from "./flows/repeat-key-ends.ts";
import { identityProvider } from "./flows/sign-in/provider.ts";
import { workloadVerifier } from "./flows/verify-workload.ts";
import { checkAuditChainJob } from "./jobs/check-audit-chain.ts";
import { ensureRequestDays, keepRequestDaysJob } from "./jobs/keep-request-days.ts";
import { notifyPaidDaysJob, paidConsumer } from "./jobs/notify-paid.ts";
import { notificationConsumers, notifyExpiringKeysJob } from "./jobs/notify-people.ts";
import { auditConsumers } from "./jobs/record-audit.ts";
import { sendMailsJobs } from "./jobs/send-mails.ts";
import { mailServer } from "./mail/smtp.ts";
import { merchantMetrics } from "./metrics.ts";
import { apiKeysRpc } from "./rpc/api-keys.ts";
import { applicationsRpc } from "./rpc/applications.ts";
import { auditRpc } from "./rpc/audit.ts";
import { connectorsRpc } from "./rpc/connectors.ts";
import { merchantsRpc } from "./rpc/merchants.ts";
import { peopleRpc } from "./rpc/people.ts";
import { receiptsRpc } from "./rpc/receipts.ts";
import { signInRpc } from "./rpc/sign-in.ts";
import { teamSource, teamsRpc } from "./rpc/teams.ts";
import { openDoors } from "./rules/people/door.ts";
import type { merchantSettings, peopleSettings } from "./settings.ts";
import { ApplicationEntity, sweepDrafts } from "./store/applications.ts";
import { BrandingEntity, SandboxBrandingEntity } from "./store/brandings.ts";
import { sweepMails } from "./store/mails.ts";
import { MappedDatabase } from "./store/mapped-database.ts";
import { MerchantEntity } from "./store/merchants.ts";
import { AuthenticatorEntity } from "./store/people/authenticators.ts";
import { ConsoleSessionEntity, sweepSessions } from "./store/people/console-sessions.ts";
import { InvitationEntity } from "./store/people/invitations.ts";
import { MembershipEntity } from "./store/people/memberships.ts";
import { NotificationChoiceEntity } from "./store/people/notification-choices.ts";
import { PasskeyEntity } from "./store/people/passkeys.ts";
import { PersonEntity } from "./store/people/persons.ts";
import { SavedViewEntity } from "./store/people/saved-views.ts";
import { SandboxProfileEntity } from "./store/sandbox-profiles.ts";
import { sweepChallenges } from "./store/sign-in/challenges.ts";
import { sweepBrowsers } from "./store/sign-in/known-browsers.ts";
import { sweepTokens } from "./store/sign-in/provider-links.ts";
import { sweepLinks } from "./store/sign-in/sign-in-links.ts";

type MerchantConfig = OpenedConfig<ConfigValues<typeof merchantSettings>> &
  Partial<ConfigValues<typeof peopleSettings>>;

const entities = [
  MerchantEntity,
  SandboxProfileEntity,
  BrandingEntity,
  SandboxBrandingEntity,
  ApplicationEntity,
  PersonEntity,
  MembershipEntity,
  InvitationEntity,
  PasskeyEntity,
  AuthenticatorEntity,
  ConsoleSessionEntity,
  NotificationChoiceEntity,
  SavedViewEntity,
];

export function startMerchant(config: MerchantConfig, hostProcess = ownHost): Promise<RunningService> {
  return startService({
    name: "merchant",
    config,
    open: (pool) => MappedDatabase.open({ ...pool, entities }),
    build: (base) => build(config, base),
    hostProcess,
  });
}

function mailServerOf({ SMTP_URL: url, MAIL_FROM: from }: MerchantConfig) {
  if ((url === undefined) !== (from === undefined)) throw new Error("SMTP_URL and MAIL_FROM belong together");
  return url === undefined || from === undefined ? undefined : mailServer(url, from);
}

function identityProviderOf(config: MerchantConfig) {
  const settings = providerOf(config);
  return settings && identityProvider(settings.issuer, settings.clientId);
}

function workloadsOf({
  KUBERNETES_ISSUER: issuer,
  KUBERNETES_JWKS_URL: keysUrl,
  KUBERNETES_TEAMS: teams,
}: MerchantConfig) {
  if (issuer !== undefined && keysUrl !== undefined && teams) return workloadVerifier({ issuer, keysUrl, teams });
  if (issuer === undefined && keysUrl === undefined && !teams) return undefined;
  throw new ConfigError("KUBERNETES_ISSUER, KUBERNETES_JWKS_URL and KUBERNETES_TEAMS belong together");
}

async function build(config: MerchantConfig, base: ServiceBase<MappedDatabase>): Promise<ServiceParts> {
  const { db, log, recovery, hostProcess } = base;
  const server = mailServerOf(config);
  const metrics = merchantMetrics(hostProcess.registry);
  const context = {
    ...base,
    metrics,
    hashKeys: new HashKeys(config.HASH_KEY),
    simulator: { secretKey: config.SIMULATOR_SECRET_KEY, webhookSecret: config.SIMULATOR_WEBHOOK_SECRET },
    doors: openDoors({ merchants: config.CONSOLE_ORIGIN, operators: config.OPERATORS_CONSOLE_ORIGIN }),
    canMail: server !== undefined,
    receiptsPerHour: config.RECEIPTS_PER_HOUR ?? receiptsPerHourDefault,
    mails: new Wake(),
    provider: identityProviderOf(config),
    workloads: workloadsOf(config),
  };
  await ensureRequestDays(db, clockMs());
  // After a restore, keys that were ended since the backup must not authenticate.
  const repeatEnds = () => repeatKeyEnds(db, config.NATS_NAMESPACE);
  while (await repeatEnds());
  return {
    rpc: [
      defineRpc(MerchantService, merchantsRpc(context)),
      defineRpc(ApiKeyService, apiKeysRpc(context)),
      defineRpc(ConnectorService, connectorsRpc(context)),
      defineRpc(ApplicationService, applicationsRpc(context)),
      defineRpc(ReceiptService, receiptsRpc(context)),
      defineRpc(AuditService, auditRpc(db)),
      defineRpc(SignInService, signInRpc(context)),
      defineRpc(PeopleService, peopleRpc(context)),
      defineRpc(TeamService, teamsRpc(context)),
    ],
    teams: teamSource(context),
    jobs: [
      { name: "repeat-key-ends", everyMs: recovery.job.everyMs, runOnce: repeatEnds },
      keepRequestDaysJob(db),
      checkAuditChainJob({ db, log, metrics }),
      { name: "sweep-drafts", everyMs: 3_600_000, runOnce: () => sweepDrafts(db) },
      ...(server ? sendMailsJobs({ ...context, server, wake: context.mails }) : []),
      { name: "sweep-sessions", everyMs: 600_000, runOnce: () => sweepSessions(db) },
      { name: "sweep-challenges", everyMs: 600_000, runOnce: () => sweepChallenges(db) },
      { name: "sweep-sign-in-links", everyMs: 600_000, runOnce: () => sweepLinks(db) },
      { name: "sweep-provider-tokens", everyMs: 3_600_000, runOnce: () => sweepTokens(db) },
      notifyExpiringKeysJob(context),
      notifyPaidDaysJob(context),
      { name: "sweep-mails", everyMs: 3_600_000, runOnce: () => sweepMails(db) },
      { name: "sweep-browsers", everyMs: 3_600_000, runOnce: () => sweepBrowsers(db) },
    ],
    consumers: [...auditConsumers(db), ...notificationConsumers(context), paidConsumer(context)],
  };
}
