#!/usr/bin/env node
// `npx tollbooth …` in the repository: the same as `npm run tollbooth -- …`.
process.argv.splice(2, 0, "deploy/cli/main.ts");
require("../local/bootstrap.cjs");
