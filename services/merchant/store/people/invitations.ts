// The invitations table: open invitations, one per address and team.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { RefundOthers } from "./memberships.ts";

export const InvitationEntity = defineEntity({
  name: "Invitation",
  tableName: "invitations",
  properties: {
    id: p.string().primary(),
    merchantId: p.string(),
    email: p.string(),
    role: p.string(),
    refundAmount: p.bigint("bigint").nullable(),
    refundCurrency: p.string().nullable(),
    refundOthers: p.json<RefundOthers>(),
    inviterId: p.string().nullable(),
    tokenHash: p.blob(),
    tokenHashKeyId: p.string(),
    byMailOnly: p.boolean(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
});
type Row = InferEntity<typeof InvitationEntity>;
export type Invitation = Omit<Row, "tokenHash" | "tokenHashKeyId">;

/** Replaces the address's earlier invitation, whose link then no longer works. */
export async function putInvitation(em: SqlEntityManager, invitation: Invitation, token: KeyedHash): Promise<void> {
  const { merchantId, email } = invitation;
  await em.nativeDelete(InvitationEntity, { merchantId, email });
  await em.insert(InvitationEntity, { ...invitation, tokenHash: token.hash, tokenHashKeyId: token.keyId });
}

export function findInvitationByHash(em: SqlEntityManager, hashes: readonly Buffer[]): Promise<Invitation | null> {
  return em.findOne(InvitationEntity, { tokenHash: { $in: [...hashes] } });
}

export function findInvitation(em: SqlEntityManager, merchantId: string, id: string): Promise<Invitation | null> {
  return em.findOne(InvitationEntity, { id, merchantId });
}

/** @returns false if it was accepted, revoked or replaced */
export async function deleteInvitation(em: SqlEntityManager, id: string): Promise<boolean> {
  return (await em.nativeDelete(InvitationEntity, { id })) === 1;
}

export function listInvitations(em: SqlEntityManager, merchantId: string, limit: number): Promise<Invitation[]> {
  return em.find(InvitationEntity, { merchantId }, { orderBy: { id: "desc" }, limit });
}
