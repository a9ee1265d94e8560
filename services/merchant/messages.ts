// Converts stored rows to the messages of merchant.v1.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { messageFields } from "#platform/database/columns.ts";
import { clockNow } from "#platform/values/clock.ts";
import {
  type ApiKey as ApiKeyMessage,
  ApiKeySchema,
  type Application as ApplicationMessage,
  ApplicationSchema,
  type Branding as BrandingMessage,
  BrandingSchema,
  type ConnectorAccount,
  ConnectorAccountSchema,
  type Connector as ConnectorMessage,
  ConnectorSchema,
  type Merchant as MerchantMessage,
  MerchantSchema,
  type Routing as RoutingMessage,
  RoutingSchema,
} from "#proto/merchant/v1/merchant_pb.ts";
import {
  type ConsoleSession,
  ConsoleSessionSchema,
  type Invitation as InvitationMessage,
  InvitationSchema,
  type Member as MemberMessage,
  MemberSchema,
  type NewSession,
  NewSessionSchema,
  type Person as PersonMessage,
  PersonSchema,
  Door as WireDoor,
} from "#proto/merchant/v1/people_pb.ts";
import type { readOwnAccess } from "./flows/sign-in/own-access.ts";
import type { BrowserInfo, SessionView } from "./flows/sign-in/session.ts";
import type { IssuedSession } from "./flows/sign-in/sign-in-by-passkey.ts";
import { keyStatus } from "./rules/api-key.ts";
import { missingFields } from "./rules/application.ts";
import type { Branding } from "./rules/branding.ts";
import { browserName } from "./rules/browser-name.ts";
import { surfaceOf } from "./rules/connector-choice.ts";
import type { Door } from "./rules/people/door.ts";
import { actionsOf, heldActions } from "./rules/people/roles.ts";
import { provedUntil } from "./rules/people/session.ts";
import type { Profile } from "./rules/profile.ts";
import type { Routing } from "./rules/routing.ts";
import type { ApiKey } from "./store/api-keys.ts";
import type { Application } from "./store/applications.ts";
import type { AccountRow, ConnectorRow } from "./store/connectors.ts";
import type { Merchant } from "./store/merchants.ts";
import type { SessionPerson } from "./store/people/console-sessions.ts";
import type { Invitation } from "./store/people/invitations.ts";
import type { MemberRow, OwnMembership } from "./store/people/memberships.ts";

/** @param profile of the requested environment; live by default */
export function toMerchant(merchant: Merchant, profile: Profile = merchant): MerchantMessage {
  return create(MerchantSchema, {
    id: merchant.id,
    name: profile.name,
    legalName: profile.legalName,
    status: merchant.status,
    country: merchant.country,
    currency: merchant.currency,
    email: profile.email,
    phone: profile.phone,
    website: profile.website,
    refundsEnabled: merchant.refundsEnabled,
    failoverEnabled: merchant.failoverEnabled,
    timeZone: merchant.timeZone,
    createdAt: timestampFromDate(merchant.createdAt),
  });
}

export function toBranding(branding: Branding): BrandingMessage {
  return create(BrandingSchema, { ...branding });
}

export function toApiKey(key: ApiKey, now: Date): ApiKeyMessage {
  const lists = { scopes: [...key.scopes], allowedIps: [...key.allowedIps] };
  return create(ApiKeySchema, { ...messageFields(key), ...lists, status: keyStatus(key, now) });
}

export function toConnector(connector: ConnectorRow): ConnectorMessage {
  return create(ConnectorSchema, {
    ...connector,
    isDefault: connector.isPrimary,
    allowedSurfaces: [...connector.allowedSurfaces],
    selectedSurface: connector.selectedSurface ?? "",
    surface: surfaceOf(connector),
    paymentMethods: [...connector.paymentMethods],
  });
}

export function toConnectorAccount(account: AccountRow, credentials: Record<string, string>): ConnectorAccount {
  return create(ConnectorAccountSchema, {
    connector: toConnector(account.connector),
    credentials,
    refundsEnabled: account.refundsEnabled,
    merchantStatus: account.merchantStatus,
    merchantCountry: account.merchantCountry,
  });
}

export function toRouting({ rules, onOutage, declineCodes, version }: Routing): RoutingMessage {
  const wire = rules.map(({ amountMin, amountMax, use, ...rule }) => ({
    ...{ ...rule, amountMin: BigInt(amountMin), amountMax: BigInt(amountMax) },
    use: [...use],
  }));
  return create(RoutingSchema, { rules: wire, onOutage, declineCodes: [...declineCodes], version });
}

export function fromRouting({ rules, onOutage, declineCodes, version }: RoutingMessage): Routing {
  const stored = rules.map(({ currency, amountMin, amountMax, captureMethod, use, share }) => ({
    ...{ currency, captureMethod, use, share, amountMin: Number(amountMin), amountMax: Number(amountMax) },
  }));
  // The proto's rule admits no other value.
  return { rules: stored, onOutage: onOutage as Routing["onOutage"], declineCodes, version };
}

export function toApplication(application: Application): ApplicationMessage {
  return create(ApplicationSchema, {
    id: application.id,
    status: application.status,
    applicantEmail: application.applicantEmail,
    legalName: application.legalName,
    tradingName: application.tradingName,
    countryCode: application.countryCode,
    currencyCode: application.currencyCode,
    merchantId: application.merchantId ?? "",
    createdAt: timestampFromDate(application.createdAt),
    missing: application.status === "draft" ? missingFields(application).map(({ field }) => field) : [],
  });
}

/** For any reader that knows the id: after submission it shows no field values. */
export function toReadApplication(application: Application): ApplicationMessage {
  if (application.status === "draft") return toApplication(application);
  const { id, status, createdAt } = application;
  return create(ApplicationSchema, { id, status, createdAt: timestampFromDate(createdAt) });
}

type DefinedFields<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops absent optional fields; they stay unchanged in an update. */
export function omitUndefined<T extends object>(fields: T): DefinedFields<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedFields<T>;
}

const agentMax = 300;
const addressMax = 64;

/** The proto's rules admit no other value. */
export function fromDoor(door: WireDoor): Door {
  return door === WireDoor.OPERATORS ? "operators" : "merchants";
}

export function fromBrowser(browser: { readonly address: string; readonly agent: string } | undefined): BrowserInfo {
  return {
    address: (browser?.address ?? "").slice(0, addressMax),
    agent: (browser?.agent ?? "").slice(0, agentMax),
  };
}

export function toPerson({ id, email, name, language }: SessionPerson): PersonMessage {
  return create(PersonSchema, { id, email, name, language });
}

export function toConsoleSession({ session, memberships, hasPasskey }: SessionView): ConsoleSession {
  const until = provedUntil(session.provedAt, clockNow());
  return create(ConsoleSessionSchema, {
    id: session.id,
    person: toPerson(session.person),
    memberships: memberships.map((membership) => toMembership(session.door, membership, session.isFull)),
    needsWayIn: !session.isFull,
    ...(until && { provedUntil: timestampFromDate(until) }),
    expiresAt: timestampFromDate(session.expiresAt),
    hasPasskey,
    hasAuthenticator: session.hasAuthenticator,
  });
}

export function toNewSession({ secret, view }: IssuedSession): NewSession {
  return create(NewSessionSchema, { secret, session: toConsoleSession(view) });
}

function toRefundLimit({
  refundAmount: amount,
  refundCurrency: currency,
  refundOthers,
}: Pick<OwnMembership, "refundOthers"> & {
  readonly refundAmount?: bigint | null | undefined;
  readonly refundCurrency?: string | null | undefined;
}) {
  if (amount == null || currency == null) return {};
  const others = Object.entries(refundOthers).map(([code, limit]) => [code, BigInt(limit)] as const);
  return { refundLimit: { amount, currency, others: Object.fromEntries(others) } };
}

export function toInvitation(invitation: Invitation, inviterName: string): InvitationMessage {
  const { id, email, role } = invitation;
  const expiresAt = timestampFromDate(invitation.expiresAt);
  return create(InvitationSchema, { id, email, role, ...toRefundLimit(invitation), inviterName, expiresAt });
}

export function toMember(member: MemberRow): MemberMessage {
  return create(MemberSchema, { ...messageFields(member), person: toPerson(member), ...toRefundLimit(member) });
}

export function toOwnAccess(access: Awaited<ReturnType<typeof readOwnAccess>>) {
  const { session, passkeys, authenticatorSince, sessions } = access;
  return {
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => messageFields({ id, name, createdAt, lastUsedAt })),
    ...(authenticatorSince && { authenticatorSince: timestampFromDate(authenticatorSince) }),
    sessions: sessions.map(({ id, address, agent, createdAt, lastUsedAt }) => ({
      ...messageFields({ id, createdAt, lastUsedAt }),
      browser: { address, agent },
      browserName: browserName(agent),
      isOwn: id === session.id,
    })),
  };
}

/** A session that is not full has no actions. */
function toMembership(door: Door, membership: OwnMembership, isFull: boolean) {
  const { merchantId, merchantName, merchantStatus, merchantTimeZone, role } = membership;
  const actions = door === "operators" ? actionsOf(door, role) : heldActions(role, merchantStatus);
  return {
    merchantId,
    merchantName,
    merchantStatus,
    merchantTimeZone,
    role,
    actions: isFull ? [...actions] : [],
    ...toRefundLimit(membership),
  };
}
