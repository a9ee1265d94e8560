// Bundles the image's programs into bundle/ during the image build (deploy/image/Dockerfile).
import { join } from "node:path";
import { bundlePrograms } from "./bundle.ts";
import { imagePrograms } from "./programs.ts";

const root = join(import.meta.dirname, "../..");
await bundlePrograms(root, imagePrograms, join(root, "bundle"));
