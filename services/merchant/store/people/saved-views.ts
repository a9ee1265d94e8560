// The saved_views table: a person's named filters of a merchant's lists.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { ChoiceOwner } from "./notification-choices.ts";

export const SavedViewEntity = defineEntity({
  name: "SavedView",
  tableName: "saved_views",
  properties: {
    personId: p.string().primary(),
    merchantId: p.string().primary(),
    list: p.string().primary(),
    name: p.string().primary(),
    query: p.string(),
  },
});
export type SavedView = InferEntity<typeof SavedViewEntity>;

/** By name. @param list empty for all lists */
export function viewsOf(em: SqlEntityManager, own: ChoiceOwner, list = ""): Promise<SavedView[]> {
  return em.find(SavedViewEntity, { ...own, ...(list !== "" && { list }) }, { orderBy: { name: "asc", list: "asc" } });
}

export async function putView(em: SqlEntityManager, view: SavedView): Promise<void> {
  await em.upsert(SavedViewEntity, view);
}

export async function deleteView(
  em: SqlEntityManager,
  view: ChoiceOwner & Pick<SavedView, "list" | "name">,
): Promise<void> {
  await em.nativeDelete(SavedViewEntity, view);
}
