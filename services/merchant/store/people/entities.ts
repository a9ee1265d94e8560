// What MikroORM maps of people: the entities of this folder.
import { AuthenticatorEntity } from "./authenticators.ts";
import { ConsoleSessionEntity } from "./console-sessions.ts";
import { InvitationEntity } from "./invitations.ts";
import { MembershipEntity } from "./memberships.ts";
import { NotificationChoiceEntity } from "./notification-choices.ts";
import { PasskeyEntity } from "./passkeys.ts";
import { PersonEntity } from "./persons.ts";
import { SavedViewEntity } from "./saved-views.ts";

export const peopleEntities = [
  PersonEntity,
  MembershipEntity,
  InvitationEntity,
  PasskeyEntity,
  AuthenticatorEntity,
  ConsoleSessionEntity,
  NotificationChoiceEntity,
  SavedViewEntity,
];
