#!/usr/bin/env node
// `npx tollbooth …` in a checkout: the same as `npm run tollbooth -- …`.
process.argv.splice(2, 0, "deploy/cli/main.ts");
require("../local/bootstrap.cjs");
