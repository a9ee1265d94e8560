// The notification_choices table, mapped: what a person says to the mails that their role may get.
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

/** Whose, and of which merchant. */
export interface ChoiceOwner {
  readonly personId: string;
  readonly merchantId: string;
}

/** What was chosen, by kind; a kind without a choice is not in it. */
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
