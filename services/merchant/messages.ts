// Converts stored rows to the messages of merchant.v1.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
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
  KeyNetworkSchema,
  type Merchant as MerchantMessage,
  MerchantSchema,
} from "#proto/merchant/v1/merchant_pb.ts";
import { keyStatus } from "./rules/api-key.ts";
import { missingFields } from "./rules/application.ts";
import type { Branding } from "./rules/branding.ts";
import { surfaceOf } from "./rules/connector-choice.ts";
import type { Profile } from "./rules/profile.ts";
import type { SeenNetwork } from "./store/api-key-networks.ts";
import type { ApiKey } from "./store/api-keys.ts";
import type { Application } from "./store/applications.ts";
import type { AccountRow, ConnectorRow } from "./store/connectors.ts";
import type { Merchant } from "./store/merchants.ts";

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
    createdAt: timestampFromDate(merchant.createdAt),
  });
}

export function toBranding(branding: Branding): BrandingMessage {
  return create(BrandingSchema, {
    displayName: branding.displayName,
    tagline: branding.tagline,
    logoUrl: branding.logoUrl,
    accentColor: branding.accentColor,
    secondaryColor: branding.secondaryColor,
    supportEmail: branding.supportEmail,
    buttonStyle: branding.buttonStyle,
    backgroundStyle: branding.backgroundStyle,
    theme: branding.theme,
    fontFamily: branding.fontFamily,
    termsUrl: branding.termsUrl,
    privacyUrl: branding.privacyUrl,
    emailField: branding.emailField,
    emailReceipts: branding.emailReceipts,
  });
}

export function toApiKey(key: ApiKey, now: Date): ApiKeyMessage {
  return create(ApiKeySchema, {
    id: key.id,
    name: key.name,
    suffix: key.suffix,
    environment: key.environment,
    scopes: [...key.scopes],
    allowedIps: [...key.allowedIps],
    status: keyStatus(key, now),
    createdAt: timestampFromDate(key.createdAt),
    ...(key.lastUsedAt ? { lastUsedAt: timestampFromDate(key.lastUsedAt) } : {}),
    ...(key.expiresAt ? { expiresAt: timestampFromDate(key.expiresAt) } : {}),
  });
}

export function toKeyNetwork({ network, firstSeenAt }: SeenNetwork) {
  return create(KeyNetworkSchema, { network, firstSeenAt: timestampFromDate(firstSeenAt) });
}

export function toConnector(connector: ConnectorRow): ConnectorMessage {
  return create(ConnectorSchema, {
    id: connector.id,
    merchantId: connector.merchantId,
    connector: connector.connector,
    environment: connector.environment,
    isDefault: connector.isPrimary,
    isActive: connector.isActive,
    canBePrimary: connector.canBePrimary,
    allowedSurfaces: [...connector.allowedSurfaces],
    defaultSurface: connector.defaultSurface,
    selectedSurface: connector.selectedSurface ?? "",
    surface: surfaceOf(connector),
    externalAccountId: connector.externalAccountId,
  });
}

export function toConnectorAccount(account: AccountRow, credentials: Record<string, string>): ConnectorAccount {
  return create(ConnectorAccountSchema, {
    connector: toConnector(account.connector),
    credentials,
    refundsEnabled: account.refundsEnabled,
    merchantStatus: account.merchantStatus,
  });
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
