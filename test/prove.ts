// `npm run prove -- <name>`: the long proofs, each with a short form in `npm test` (docs/proof.md).
import { chooseCommand } from "../deploy/local/choose-command.ts";

await chooseCommand("prove", {
  walk: {
    about: "random payments, side by side, with a processor that fails; compared with the books (minutes)",
    scripts: ["test/chaos/walk.ts"],
  },
  chaos: {
    about: "the same while processes, servers and the network fail (--minutes)",
    scripts: ["test/chaos/chaos.ts"],
  },
  failover: {
    about: "PostgreSQL's primary and brokers are killed under load (10 minutes)",
    scripts: ["test/chaos/failover.ts"],
  },
  vanish: { about: "PostgreSQL's machine vanishes without a word (4 minutes)", scripts: ["test/chaos/vanish.ts"] },
  restore: {
    about: "databases go back to a backup, and what is lost is rebuilt (4 minutes)",
    scripts: ["test/chaos/restore.ts"],
  },
  alarms: {
    about: "every alert rings and ends under a real Prometheus (half an hour)",
    scripts: ["test/chaos/alarms.ts"],
  },
  soak: {
    about: "an hour of orders: memory, handles, connections, tables and latency stay flat",
    scripts: ["test/bench/soak.ts"],
  },
  "crash-points": {
    about: "a process is killed at every point where it matters, in every story (10 minutes)",
    scripts: ["test/proofs/crash-points.test.ts"],
    env: { CRASH_STORIES: "all" },
    usage: "npm run prove -- crash-points\n\nTakes no options; `npm test -- crash-points` is its short form.",
  },
  rollout: {
    about: "a rolling restart of three replicas of everything, without a failed request (2 minutes)",
    scripts: ["test/proofs/rolling-restart.test.ts"],
    env: { ROLLOUT_REPLICAS: "3" },
    usage: "npm run prove -- rollout\n\nTakes no options; ROLLOUT_REPLICAS (3) is how many of each service.",
  },
  "release-compat": {
    about: "the release before and this one side by side (minutes)",
    scripts: ["test/releases/release-compat.ts"],
  },
  mutants: {
    about: "wrong edits of the money rules, each killed by its unit test (half a minute)",
    scripts: ["test/proofs/mutants.ts"],
    usage: "npm run prove -- mutants\n\nTakes no options.",
  },
});
