// Plays one story of a run, chosen by its seed: at which merchant, and of which kind. And what a run begins and ends
// with.
import { playClock } from "./clock-story.ts";
import { playOperator } from "./operator-story.ts";
import { drawOrderKey, repeatAnswered } from "./order-key.ts";
import { playOutage } from "./outage-story.ts";
import { Random } from "./random.ts";
import { playSession } from "./session-story.ts";
import type { Shop } from "./shop.ts";
import type { Run, Story } from "./story.ts";
import { playToken } from "./token-story.ts";

export interface StoryInput {
  /** Of this story alone. */
  readonly seed: number;
  /** Names it within the run. */
  readonly name: string;
  /** How long a request is repeated that got no final answer. */
  readonly patienceMs: number;
}

const kinds = [
  ["session", 60],
  ["token", 30],
  ["operator", 6],
  ["clock", 2],
  ["outage", 0.5],
] as const;
/** The first merchant has every fault of the simulator's; the others share the rest. */
const shopWeights = [40, 20, 25, 15];
/** Between two tries of a request. */
const pauseMs = 150;

export async function playStory(run: Run, { seed, name, patienceMs }: StoryInput): Promise<void> {
  const random = new Random(seed);
  const kind = random.pick(kinds);
  if (kind === "clock") return await playClock(run, random);
  if (kind === "outage") return await playOutage(run, random);
  const shop = random.pick<Shop>(run.rig.shops.map((one, i) => [one, shopWeights[i] ?? 1] as const));
  const { seen } = shop;
  const onGiveUp = (last: string) => seen.offence(name, last);
  const patience = { limitMs: patienceMs, pauseMs, onGiveUp };
  const story: Story = { run, shop, random, seen, name, patience, answered: [], hasOrderKey: false };
  if (kind === "operator") return await playOperator(story);
  const order = { ...story, hasOrderKey: drawOrderKey(story) };
  await (kind === "session" ? playSession(order) : playToken(order));
  await repeatAnswered(order);
}
