// The notification_choices table: a person's enabled and disabled notifications.
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";

export const NotificationChoiceEntity = defineEntity({
  name: "NotificationChoice",
  tableName: "notification_choices",
  properties: {
    personId: p.string().primary(),
    merchantId: p.string().primary(),
    kind: p.string().primary(),
    isOn: p.boolean(),
  },
});

export interface ChoiceOwner {
  readonly personId: string;
  readonly merchantId: string;
}

/** Choices by kind, without kinds that have none. */
export async function choicesOf(em: SqlEntityManager, own: ChoiceOwner): Promise<ReadonlyMap<string, boolean>> {
  const rows = await em.find(NotificationChoiceEntity, { ...own });
  return new Map(rows.map(({ kind, isOn }) => [kind, isOn]));
}

export async function putChoices(
  em: SqlEntityManager,
  own: ChoiceOwner,
  choices: ReadonlyMap<string, boolean>,
): Promise<void> {
  const rows = [...choices].map(([kind, isOn]) => ({ ...own, kind, isOn }));
  if (rows.length > 0) await em.upsertMany(NotificationChoiceEntity, rows);
}
