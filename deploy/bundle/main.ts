// Bundles the image's programs into bundle/ during the image build (deploy/image/Dockerfile).
import { join } from "node:path";
import { bundle } from "./bundle.ts";
import { imagePrograms } from "./programs.ts";

const root = join(import.meta.dirname, "../..");
await bundle(root, imagePrograms, join(root, "bundle"));
