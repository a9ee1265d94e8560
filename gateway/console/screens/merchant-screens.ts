// Every screen of the merchants' console, in the order of its navigation.
import type { ConsoleContext } from "../session/visit.ts";
import { deliveryRoutes } from "./developers/delivery.ts";
import { eventsRoutes } from "./developers/events.ts";
import { keyRoutes } from "./developers/key.ts";
import { keyFormRoutes } from "./developers/key-form.ts";
import { keysRoutes } from "./developers/keys.ts";
import { requestsRoutes } from "./developers/requests.ts";
import { signingSecretRoutes } from "./developers/signing-secret.ts";
import { webhookRoutes } from "./developers/webhook.ts";
import { webhookFormRoutes } from "./developers/webhook-form.ts";
import { webhooksRoutes } from "./developers/webhooks.ts";
import { paymentsRoutes } from "./money/payments.ts";
import { auditRoutes } from "./settings/audit.ts";
import { brandingRoutes } from "./settings/branding.ts";
import { brandingPreviewRoutes } from "./settings/branding-preview.ts";
import { notificationsRoutes } from "./settings/notifications.ts";
import { processorRoutes } from "./settings/processor.ts";
import { processorCredentialRoutes } from "./settings/processor-credentials.ts";
import { processorsRoutes } from "./settings/processors.ts";
import { profileRoutes } from "./settings/profile.ts";
import { teamRoutes } from "./settings/team.ts";
import { teamInviteRoutes } from "./settings/team-invite.ts";
import { teamMemberRoutes } from "./settings/team-member.ts";

export function merchantScreens(context: ConsoleContext): void {
  paymentsRoutes(context);
  webhooksRoutes(context);
  webhookFormRoutes(context);
  webhookRoutes(context);
  signingSecretRoutes(context);
  deliveryRoutes(context);
  keysRoutes(context);
  keyFormRoutes(context);
  keyRoutes(context);
  requestsRoutes(context);
  eventsRoutes(context);
  brandingRoutes(context);
  brandingPreviewRoutes(context);
  processorsRoutes(context);
  processorRoutes(context);
  processorCredentialRoutes(context);
  teamRoutes(context);
  teamInviteRoutes(context);
  teamMemberRoutes(context);
  profileRoutes(context);
  notificationsRoutes(context);
  auditRoutes(context);
}
