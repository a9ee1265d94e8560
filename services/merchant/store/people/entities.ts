// What MikroORM maps of people: the entities of this folder.
import { ConsoleSessionEntity } from "./console-sessions.ts";
import { InvitationEntity } from "./invitations.ts";
import { MembershipEntity } from "./memberships.ts";
import { PasskeyEntity } from "./passkeys.ts";
import { PersonEntity } from "./persons.ts";

export const peopleEntities = [PersonEntity, MembershipEntity, InvitationEntity, PasskeyEntity, ConsoleSessionEntity];
