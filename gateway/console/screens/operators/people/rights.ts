// The table of rights as the merchant service has it: every action with the roles that may do it.
import type { Role } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { table } from "../../../view/table.ts";

export function rightsTable({ language }: OperatorVisit, roles: readonly Role[], actions: readonly string[]): Html {
  const texts = textsOf(language).people;
  const mark = (may: boolean) =>
    may
      ? html`<span aria-hidden="true">✓</span><span class="visually-hidden">${texts.may}</span>`
      : html`<span class="visually-hidden">${texts.mayNot}</span>`;
  return table({
    caption: texts.rights,
    rows: actions,
    empty: "",
    columns: [
      { heading: texts.action, cell: (action) => html`<code>${action}</code>` },
      ...roles.map((role) => ({
        heading: translateCode(language, "roles", role.name),
        cell: (action: string) => mark(role.actions.includes(action)),
      })),
    ],
  });
}
